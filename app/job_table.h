// Every job by its name, with its arguments and its report as JSON: how an interface in another language runs one.
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

// The result of a job. A failed one may have a report, too.
struct JobOutcome {
  core::Status status;
  std::optional<Json> report;
};

struct NamedJob {
  std::string_view name;       // "compile"
  std::string_view arguments;  // "{model, output, hidden_states}"
  std::string_view report;     // "{file}", or where its help is
  // Takes all its arguments before it begins.
  JobOutcome (*run)(JobArguments& arguments, const Runtime& runtime, const Client& client);
};

// In the order of their names.
[[nodiscard]] std::span<const NamedJob> job_table();

// Null when there is none.
[[nodiscard]] const NamedJob* find_job(std::string_view name);
// kInvalidArgument with the nearest name.
[[nodiscard]] core::Status unknown_job_error(std::string_view name);

}  // namespace latebind::app
