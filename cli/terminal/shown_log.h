// What of the library's log the program says on the error stream.
#pragma once

namespace latebind::cli {

enum class LogShown { kNothing, kWarnings, kEverything };

// kWarnings: what somebody should know who did not ask, as that the cache is not used. Not vendors' own lines, nor
// which devices failed: commands tell who answers at the end, and why. From the next line of the log on, from any
// thread.
void show_log(LogShown shown);

}  // namespace latebind::cli
