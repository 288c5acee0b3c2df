// What the parts of the service share. Only for its files.
#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace latebind::server {

// Seconds until the queue has probably room again.
inline constexpr unsigned kRetryAfter = 1;

// Of UTF-8.
[[nodiscard]] std::uint64_t characters_of(std::span<const std::string> texts);

}  // namespace latebind::server
