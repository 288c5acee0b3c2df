// Compiles a model for several devices into one file.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "app/client.h"
#include "app/jobs/compile_options.h"
#include "app/json_text.h"
#include "app/runtime.h"
#include "core/bundle/compile.h"
#include "core/status.h"

namespace latebind::app {

// A variant whose compilation has started (`outcome` is null) or ended.
struct CompileStep {
  const core::CompileJob& job;
  const core::CompileOutcome* outcome;
  std::size_t done;  // variants done so far
  std::size_t count;
};
// Several threads may call it, one at a time.
using CompileWatch = std::function<void(const CompileStep& step)>;

struct CompileReport {
  std::string output;
  bool written = false;
  core::Status failure;            // why nothing was written
  bool options_are_wrong = false;  // the options are to blame, as far as is known without reading the model
  bool is_complete = false;        // every target has its outcome, and all usable variants are written
  std::vector<core::CompileJob> jobs;
  std::vector<core::CompileOutcome> outcomes;  // of the jobs, in their order
  std::vector<core::Status> refused;           // targets that failed although the rest was written
};

// Compiles the model and writes the output, which appears only once it is complete. `failure` is kInvalidArgument for
// options that contradict each other or the model, kNotFound for a missing model, kUnsupported for what this build
// cannot do, kDeviceNotFound or kLibraryNotFound for a target, or an error of reading, compiling or writing.
[[nodiscard]] CompileReport compile(const CompileOptions& options, const Runtime& runtime, const Client& client,
                                    const CompileWatch& watch);

// {output, variants: [{name, target, device, compiled, bytes, seconds, reason, note, left_to_cpu: {count, first:
// [{operator, name, shape}]}}], refused}
[[nodiscard]] Json to_json(const CompileReport& report);

}  // namespace latebind::app
