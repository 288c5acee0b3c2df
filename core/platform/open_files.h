// How many files and connections this process may have open.
#pragma once

#include <cstddef>

namespace latebind::platform {

// Raises the limit to `wanted`, or as far as the system allows; never lowers it. Returns what is allowed now; `wanted`
// where the system has no such limit.
std::size_t allow_open_files(std::size_t wanted);

}  // namespace latebind::platform
