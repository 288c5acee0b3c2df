// Programs of ExecuTorch that carry a bundle, and those of its own OpenVINO backend
// turned into ours.
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

// kInvalidArgument for invalid bounds, for compile specs that the delegate does not know or that contradict the
// precision of this call, and for values that would be rejected when the program is loaded; kUnsupported when the build
// cannot do it at all.
[[nodiscard]] core::Status check_pte_options(const CompileOptions& options, const Runtime& runtime,
                                             const Client& client);

// What the program's inputs and outputs are, and whether `jobs` are of use to it. The errors of pte_signature() and
// check_variants().
[[nodiscard]] core::Result<PteSignature> plan_pte(const PteOptions& options, const CompileInput& input,
                                                  const Runtime& runtime, std::span<const core::CompileJob> jobs,
                                                  const Client& client);

// Writes a program with one method, which passes everything to the bundle. All or nothing. `precisions`: those of the
// variants that were compiled now; by default, the delegate is told f32, and then those.
[[nodiscard]] core::Status write_pte(const std::filesystem::path& place, const PteOptions& options,
                                     const PteSignature& signature, const CompileInput& input, const Runtime& runtime,
                                     const core::PackageWriter& bundle, const std::set<core::Precision>& precisions,
                                     const Client& client);

// Writes the program `old` with Latebind's delegate instead of ExecuTorch's own for OpenVINO. With a bundle, which must
// be of a model with as many inputs and outputs as the program's, that replaces what the delegate was given; otherwise
// it keeps that. All or nothing; `place` may be `old`.
struct PteReplacement {
  const CompileInput& input;
  const Runtime& runtime;
  const core::PackageWriter& bundle;
};
[[nodiscard]] core::Status convert_pte(const std::filesystem::path& place, const std::filesystem::path& old,
                                       const PteReplacement* replacement, const Client& client);

}  // namespace latebind::app
