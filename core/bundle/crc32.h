// CRC-32 as in ZIP (polynomial 0xEDB88320): detects damage, not malice. Pure function; any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace latebind::core {

// Of `bytes`, or, with the sum of what came before, of both together.
[[nodiscard]] std::uint32_t crc32(std::span<const std::byte> bytes, std::uint32_t before = 0);

}  // namespace latebind::core
