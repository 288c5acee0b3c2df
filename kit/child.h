// The two sides of a check in a child process.
#pragma once

#include <filesystem>
#include <string_view>

#include "core/result.h"
#include "kit/check.h"
#include "kit/options.h"
#include "kit/report.h"

namespace latebind::kit {

// The parent's side: runs the check on this device in a child process and says how it ended. A crash, a hang, an exit
// and output on the standard streams are failures. `folder` is for temporary files. `data` becomes Finding::data. The
// error is that of a child that cannot be started.
[[nodiscard]] core::Result<CheckResult> run_in_child(const Options& options, const Check& check,
                                                     std::string_view device, bool is_plugin,
                                                     const std::filesystem::path& folder, core::Json* data = nullptr);

// The child's side: runs Options::run_check and writes what it finds to Options::result_file. Returns the exit status,
// with which the process should end as usual, so that a crash at its end is noticed.
[[nodiscard]] int run_as_child(const Options& options);

}  // namespace latebind::kit
