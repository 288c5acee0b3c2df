// The part of crc32() for which some processors have instructions. Internal to core/bundle.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace latebind::core {

// Takes bytes from the front, as many as suit the instructions, and replaces them by 16: the register `sum` (not
// inverted) followed by these bytes becomes the register 0 followed by `folded`. Returns how many it took: 0 on
// processors without such instructions and for short inputs.
std::size_t crc32_fold(std::uint32_t sum, std::span<const std::byte> bytes, std::span<std::byte, 16> folded);

}  // namespace latebind::core
