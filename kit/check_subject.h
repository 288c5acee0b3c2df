// Runs the checks on a subject: the parent process of the kit.
#pragma once

#include <functional>

#include "core/result.h"
#include "kit/options.h"
#include "kit/report.h"

namespace latebind::kit {

// Runs the checks that the options ask for, on each device, and returns what was found. Opens nothing in this process.
// kInvalidArgument for checks that do not exist; kNotFound for a subject that does not; otherwise the errors of child
// processes that cannot be started. `told` is called with each result as it comes.
[[nodiscard]] core::Result<Report> check_subject(const Options& options,
                                                 const std::function<void(const CheckResult&)>& told = {});

}  // namespace latebind::kit
