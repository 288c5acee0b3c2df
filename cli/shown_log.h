// What of the library's log the program says on the error stream.
#pragma once

#include <string_view>

namespace latebind::cli {

enum class LogShown { kNothing, kWarnings, kEverything };

// kWarnings: what somebody should know who did not ask, as that the cache is not used. Not vendors' own lines, whose
// errors come back as ours, and nothing that is_told_by_commands(). From the next line of the log on, from any thread.
void show_log(LogShown shown);

// True for lines on devices that fail and recover while a model runs: commands tell who answers at the end, and why.
[[nodiscard]] bool is_told_by_commands(std::string_view line);

}  // namespace latebind::cli
