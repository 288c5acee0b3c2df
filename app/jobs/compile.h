// One file with a model for every device that it may run on.
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

// A variant that was started, or is done when there is an outcome.
struct CompileStep {
  const core::CompileJob& job;
  const core::CompileOutcome* outcome;
  std::size_t done;  // number done
  std::size_t count;
};
// Called by several threads, one at a time.
using CompileWatch = std::function<void(const CompileStep& step)>;

struct CompileReport {
  std::string output;
  bool written = false;
  core::Status failure;            // why it was not
  bool options_are_wrong = false;  // the failure is in the options, as far as can be said without the model's contents
  bool is_complete = false;        // every target has its outcome, and what was usable is written
  std::vector<core::CompileJob> jobs;
  std::vector<core::CompileOutcome> outcomes;  // of the jobs, in their order
  std::vector<core::Status> refused;           // targets that failed, when what could be compiled was written anyway
};

// Compiles and writes. The file appears only when it is complete. Failures: kInvalidArgument for options that
// contradict each other or the model, kNotFound for a missing model, kUnsupported for what this build cannot do,
// kDeviceNotFound and kLibraryNotFound of targets, and the errors of reading, compiling and writing.
[[nodiscard]] CompileReport compile(const CompileOptions& options, const Runtime& runtime, const Client& client,
                                    const CompileWatch& watch);

// {output, variants: [{name, target, device, compiled, bytes, seconds, reason, note, left_to_cpu: {count, first:
// [{operator, name, shape}]}}], refused}
[[nodiscard]] Json to_json(const CompileReport& report);

}  // namespace latebind::app
