// The part of crc32() that uses special instructions. Internal to core/bundle; pure function.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace latebind::core {

// Replaces a prefix of `bytes`, as long as suits the instructions, by 16 bytes: register `sum` (not inverted) followed
// by the prefix is equivalent to register 0 followed by `folded`. Returns the length of the prefix; 0 on processors
// without the instructions and for short inputs.
std::size_t crc32_fold(std::uint32_t sum, std::span<const std::byte> bytes, std::span<std::byte, 16> folded);

}  // namespace latebind::core
