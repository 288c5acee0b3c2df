// The local date and time. Any thread may call it.
#pragma once

#include <ctime>

namespace latebind::platform {

// Returns the current time in the machine's time zone.
[[nodiscard]] std::tm local_time();

}  // namespace latebind::platform
