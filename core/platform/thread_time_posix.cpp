#include <time.h>

#include "core/platform/thread_time.h"

namespace latebind::platform {

std::chrono::nanoseconds thread_time() noexcept {
  timespec time{};
  if (::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time) != 0) return {};
  return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
}

}  // namespace latebind::platform
