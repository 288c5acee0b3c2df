// Numbers that nobody can foresee, from the system. Stateless; any thread.
#pragma once

#include <cstdint>

namespace latebind::platform {

// 64 random bits: a name that no other process has, or a seed. Where the system has none to give, which only happens
// while it starts or in a sandbox that forbids the call, they are made of the clock and an address. Not for keys.
// std::random_device would do; but in programs that contain the C++ library it asks for the newest C library.
[[nodiscard]] std::uint64_t random_number() noexcept;

}  // namespace latebind::platform
