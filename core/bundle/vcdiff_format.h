// The constants of RFC 3284 (VCDIFF), for the two files that read and write it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace latebind::core::vcdiff {

// "VCD" with the high bits set, and version 0.
inline constexpr std::array<std::uint8_t, 4> kMagic{0xD6, 0xC3, 0xC4, 0x00};
// Bits of Win_Indicator.
inline constexpr std::uint8_t kFromSource = 1;
inline constexpr std::uint8_t kFromTarget = 2;

enum class Kind : std::uint8_t { kNoop, kAdd, kRun, kCopy };

struct Instruction {
  Kind kind = Kind::kNoop;
  std::uint8_t size = 0;  // 0 when the size follows the code
  std::uint8_t mode = 0;  // address mode of a copy
};
struct CodePair {
  Instruction first{};
  Instruction second{};
};

// Address modes: from the beginning, back from the current position, near one of the last four, equal to one of 768
// earlier addresses.
inline constexpr std::uint8_t kSelf = 0;
inline constexpr std::uint8_t kHere = 1;
inline constexpr std::uint8_t kFirstNear = 2;
inline constexpr std::size_t kNearCount = 4;
inline constexpr std::uint8_t kFirstSame = 6;
inline constexpr std::size_t kSameCount = 3;
inline constexpr std::uint8_t kModes = 9;

// Codes that are followed by their sizes.
inline constexpr std::uint8_t kAddCode = 1;
inline constexpr std::uint8_t kCopyCode = 19;

// The default code table, section 5.6.
[[nodiscard]] constexpr std::array<CodePair, 256> code_table() {
  std::array<CodePair, 256> table{};
  std::size_t at = 0;
  table[at++] = {{Kind::kRun, 0, 0}, {}};
  for (std::uint8_t size = 0; size <= 17; ++size)
    table[at++] = {{Kind::kAdd, size, 0}, {}};
  for (std::uint8_t mode = 0; mode < kModes; ++mode) {
    table[at++] = {{Kind::kCopy, 0, mode}, {}};
    for (std::uint8_t size = 4; size <= 18; ++size)
      table[at++] = {{Kind::kCopy, size, mode}, {}};
  }
  for (std::uint8_t mode = 0; mode < kModes; ++mode) {
    const std::uint8_t copy_max = mode < kFirstSame ? 6 : 4;
    for (std::uint8_t add = 1; add <= 4; ++add) {
      for (std::uint8_t copy = 4; copy <= copy_max; ++copy)
        table[at++] = {{Kind::kAdd, add, 0}, {Kind::kCopy, copy, mode}};
    }
  }
  for (std::uint8_t mode = 0; mode < kModes; ++mode)
    table[at++] = {{Kind::kCopy, 4, mode}, {Kind::kAdd, 1, 0}};
  return table;
}

}  // namespace latebind::core::vcdiff
