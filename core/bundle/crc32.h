// CRC-32 as in ZIP (polynomial 0xEDB88320): detects damage, not malice. Pure functions; any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace latebind::core {

// Of `bytes`, or, with the sum of what came before, of both together.
[[nodiscard]] std::uint32_t crc32(std::span<const std::byte> bytes, std::uint32_t before = 0);

// Of two pieces of which the sums are known, the second one so many bytes long.
[[nodiscard]] std::uint32_t crc32_of_both(std::uint32_t first, std::uint32_t second, std::uint64_t second_size);

// The same as crc32(), of many bytes on as many threads, a few at most. Where the system has no thread to give, on this
// one.
[[nodiscard]] std::uint32_t crc32_on_threads(std::span<const std::byte> bytes, std::size_t threads);

}  // namespace latebind::core
