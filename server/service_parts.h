// Declarations shared by the files of the service.
#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace latebind::server {

// Seconds after which the queue probably has room again.
inline constexpr unsigned kRetryAfter = 1;

// The number of Unicode characters in UTF-8 texts.
[[nodiscard]] std::uint64_t characters_of(std::span<const std::string> texts);

}  // namespace latebind::server
