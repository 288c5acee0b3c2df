// CRC-32 as ZIP has it (polynomial 0xEDB88320): tells damage, not malice. Pure function; any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace latebind::core {

// Of `bytes`, or, with the sum of what came before, of both together.
[[nodiscard]] std::uint32_t crc32(std::span<const std::byte> bytes, std::uint32_t before = 0);

}  // namespace latebind::core
