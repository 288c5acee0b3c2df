// Selects which part of the library's log the program prints to the error stream.
#pragma once

namespace latebind::cli {

enum class LogShown { kNothing, kWarnings, kEverything };

// kWarnings prints what users should know without asking, such as that the cache is unusable. It excludes vendors'
// messages and failed devices, because commands report at the end which device answers and why. Takes effect with the
// next line of the log, from any thread.
void show_log(LogShown shown);

}  // namespace latebind::cli
