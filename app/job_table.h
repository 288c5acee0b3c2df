// The table of all jobs by name, with arguments and reports as JSON. Interfaces in other languages run jobs through it.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "app/client.h"
#include "app/job_arguments.h"
#include "app/json_text.h"
#include "app/runtime.h"
#include "core/result.h"

namespace latebind::app {

// The result of a job. A failed job may have a report, too.
struct JobOutcome {
  core::Status status;
  std::optional<Json> report;
};

struct NamedJob {
  std::string_view name;       // "compile"
  std::string_view arguments;  // "{model, output, hidden_states}"
  std::string_view report;     // "{file}", or a reference to its documentation
  // Takes all arguments before the job begins.
  JobOutcome (*run)(JobArguments& arguments, const Runtime& runtime, const Client& client);
};

// Sorted by name.
[[nodiscard]] std::span<const NamedJob> job_table();

// Returns null for an unknown name.
[[nodiscard]] const NamedJob* find_job(std::string_view name);
// Returns kInvalidArgument with the nearest known name.
[[nodiscard]] core::Status unknown_job_error(std::string_view name);

}  // namespace latebind::app
