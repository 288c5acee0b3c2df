// The part of the library's log that the program prints to the error stream.
#pragma once

namespace latebind::cli {

enum class LogShown { kNothing, kWarnings, kEverything };

// kWarnings: what users should know unasked, such as that the cache is not used. Not vendors' own lines, nor which
// devices failed: commands report which device answers at the end, and why. From the next line of the log on, from any
// thread.
void show_log(LogShown shown);

}  // namespace latebind::cli
