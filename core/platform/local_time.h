// The time of day where this machine is. Any thread may call it.
#pragma once

#include <ctime>

namespace latebind::platform {

// Returns the time now, in the machine's time zone.
[[nodiscard]] std::tm local_time();

}  // namespace latebind::platform
