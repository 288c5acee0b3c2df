#include "core/platform/local_time.h"

namespace latebind::platform {

std::tm local_time() {
  const std::time_t now = std::time(nullptr);
  std::tm time{};
  ::localtime_s(&time, &now);
  return time;
}

}  // namespace latebind::platform
