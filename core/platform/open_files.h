// The number of files and connections that this process may have open. May be called from any thread.
#pragma once

#include <cstddef>

namespace latebind::platform {

// Raises the limit to `wanted`, or as far as the system allows; never lowers it. Returns the limit that is now in
// effect, or `wanted` if the system has no such limit.
std::size_t allow_open_files(std::size_t wanted);

}  // namespace latebind::platform
