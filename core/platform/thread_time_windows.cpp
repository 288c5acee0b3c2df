#include <windows.h>

#include <cstdint>

#include "core/platform/thread_time.h"

namespace latebind::platform {

std::chrono::nanoseconds thread_time() noexcept {
  FILETIME began{};
  FILETIME ended{};
  FILETIME kernel{};
  FILETIME user{};
  if (::GetThreadTimes(::GetCurrentThread(), &began, &ended, &kernel, &user) == 0) return {};
  // In steps of 100 ns.
  const auto of = [](const FILETIME& time) {
    return (std::int64_t{time.dwHighDateTime} << 32 | std::int64_t{time.dwLowDateTime}) * 100;
  };
  return std::chrono::nanoseconds(of(kernel) + of(user));
}

}  // namespace latebind::platform
