#include <windows.h>
// After windows.h, which it needs.
#include <bcrypt.h>

#include <chrono>

#include "core/platform/random.h"

namespace latebind::platform {

std::uint64_t random_number() noexcept {
  std::uint64_t number = 0;
  if (::BCryptGenRandom(nullptr, reinterpret_cast<PUCHAR>(&number), sizeof(number), BCRYPT_USE_SYSTEM_PREFERRED_RNG) >=
      0) {
    return number;
  }
  const auto now = static_cast<std::uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count());
  // See the POSIX version.
  return (now ^ reinterpret_cast<std::uintptr_t>(&number)) * 0x9e37'79b9'7f4a'7c15;
}

}  // namespace latebind::platform
