// The process of an isolated plug-in: opens the library and answers the program that has started it, until that program
// is gone (isolated_plugin.h).
#pragma once

#include <string>

namespace latebind::plugin {

// Serves at standard input, and ends this process.
[[noreturn]] void hold_plugin(const std::string& library);

}  // namespace latebind::plugin
