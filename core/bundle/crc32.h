// CRC-32 as in ZIP (polynomial 0xEDB88320), which detects damage but not malice. Pure functions, for any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace latebind::core {

// Returns the CRC of `bytes`, or, if `before` is the CRC of preceding bytes, of both together.
[[nodiscard]] std::uint32_t crc32(std::span<const std::byte> bytes, std::uint32_t before = 0);

// Returns the CRC of two pieces from the CRC of each and the size of the second.
[[nodiscard]] std::uint32_t crc32_of_both(std::uint32_t first, std::uint32_t second, std::uint64_t second_size);

// Like crc32(), on up to `threads` threads for large inputs. Uses fewer if the system has none to give.
[[nodiscard]] std::uint32_t crc32_on_threads(std::span<const std::byte> bytes, std::size_t threads);

}  // namespace latebind::core
