// `latebind compile --format pte`: programs of ExecuTorch that carry a bundle, and those of its own OpenVINO backend
// turned into ours.
#pragma once

#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "cli/compile_input.h"
#include "cli/runtime_options.h"
#include "core/bundle/package_writer.h"
#include "core/config.h"
#include "core/result.h"

namespace CLI {
class App;
}

namespace latebind::cli {

struct PteOptions {
  std::vector<std::string> max_shapes;     // NAME=DIMxDIM…
  std::vector<std::string> compile_specs;  // KEY=VALUE
  std::string model;                       // for a program that is converted
  bool plan_inputs = false;

  void add_to(CLI::App& app);
  // The first of these options that was given, or "": for formats that have no use for them.
  [[nodiscard]] std::string given() const;
};

// True for a file that begins as a program does.
[[nodiscard]] bool is_pte(const std::filesystem::path& file);

// kInvalidArgument for bounds that are none, for compile specs that the delegate does not know or that contradict
// --precision in `line`, and for words that would be refused when the program is loaded; kUnsupported when the build
// cannot do it at all.
[[nodiscard]] core::Status check_pte_options(const PteOptions& options, const RuntimeOptions& line,
                                             const Runtime& runtime);

// Adds the portable model of an embedding model as one ONNX file with its weights in it. A delegate has the bundle in
// memory, and there OpenVINO takes no model whose weights lie beside it.
[[nodiscard]] core::Status add_whole_portable(const CompileInput& input, core::PackageWriter& bundle);

// Writes a program with one method, which hands everything to the bundle. Whole or not at all. `precisions`: those of
// the variants that were compiled now; unless somebody says otherwise, the delegate is told f32, and then those.
[[nodiscard]] core::Status write_pte(const std::filesystem::path& place, const PteOptions& options,
                                     const CompileInput& input, const Runtime& runtime,
                                     const core::PackageWriter& bundle, const std::set<core::Precision>& precisions);

// Writes the program `old` with Latebind's delegate instead of ExecuTorch's own for OpenVINO. With a bundle, which must
// be of a model with as many inputs and outputs as the program's, that replaces what the delegate was given; otherwise
// it keeps that. Whole or not at all; `place` may be `old`.
struct PteReplacement {
  const CompileInput& input;
  const Runtime& runtime;
  const core::PackageWriter& bundle;
};
[[nodiscard]] core::Status convert_pte(const std::filesystem::path& place, const std::filesystem::path& old,
                                       const PteReplacement* replacement);

}  // namespace latebind::cli
