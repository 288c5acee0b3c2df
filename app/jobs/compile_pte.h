// Writes ExecuTorch programs that carry a bundle, and converts programs for ExecuTorch's OpenVINO backend.
#pragma once

#include <filesystem>
#include <set>
#include <span>

#include "app/client.h"
#include "app/jobs/compile_input.h"
#include "app/jobs/compile_options.h"
#include "app/jobs/pte_signature.h"
#include "app/runtime.h"
#include "core/bundle/compile.h"
#include "core/bundle/package_writer.h"
#include "core/config.h"
#include "core/result.h"

namespace latebind::app {

// Returns kInvalidArgument for invalid bounds, for compile specs that the delegate does not know or that contradict the
// precision of this call, and for values that loading the program would reject. Returns kUnsupported if this build
// cannot write programs at all.
[[nodiscard]] core::Status check_pte_options(const CompileOptions& options, const Runtime& runtime,
                                             const Client& client);

// Determines the program's inputs and outputs and checks that it can use `jobs`. Returns the errors of pte_signature()
// and check_variants().
[[nodiscard]] core::Result<PteSignature> plan_pte(const PteOptions& options, const CompileInput& input,
                                                  const Runtime& runtime, std::span<const core::CompileJob> jobs,
                                                  const Client& client);

// The bundle of a program, and the model and the runtime that it was made with.
struct PteBundle {
  const CompileInput& input;
  const Runtime& runtime;
  const core::PackageWriter& bundle;
};

// Writes a program with one method that passes everything to the bundle, all or nothing. `precisions` are those of the
// variants compiled now; unless compile specs say otherwise, the delegate asks for f32 first and then for these.
[[nodiscard]] core::Status write_pte(const std::filesystem::path& place, const PteOptions& options,
                                     const PteSignature& signature, const PteBundle& bundle,
                                     const std::set<core::Precision>& precisions, const Client& client);

// Rewrites the program `old` to use Latebind's delegate instead of ExecuTorch's for OpenVINO, all or nothing. With a
// `replacement`, its bundle replaces the delegate's payload, and its model must have as many inputs and outputs as the
// program; without one, the payload is kept. `place` may be `old`.
[[nodiscard]] core::Status convert_pte(const std::filesystem::path& place, const std::filesystem::path& old,
                                       const PteBundle* replacement, const Client& client);

}  // namespace latebind::app
