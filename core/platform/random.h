// Unpredictable numbers from the system. May be called from any thread.
#pragma once

#include <cstdint>

namespace latebind::platform {

// Returns 64 random bits, for a name that no other process has, or for a seed. Not for keys: if the system has no
// random bits, which only happens while it starts or in a sandbox that forbids the call, they are made from the clock
// and an address. std::random_device is not used, because in programs that contain the C++ library it needs the newest
// C library.
[[nodiscard]] std::uint64_t random_number() noexcept;

}  // namespace latebind::platform
