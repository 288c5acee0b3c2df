#include <sys/random.h>

#include <chrono>

#include "core/platform/random.h"

namespace latebind::platform {

std::uint64_t random_number() noexcept {
  std::uint64_t number = 0;
  if (::getrandom(&number, sizeof(number), GRND_NONBLOCK) == sizeof(number)) return number;
  const auto now = static_cast<std::uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count());
  // The constant of splitmix64 spreads the few bits that change over all bits.
  return (now ^ reinterpret_cast<std::uintptr_t>(&number)) * 0x9e37'79b9'7f4a'7c15;
}

}  // namespace latebind::platform
