// Byte-level text: each byte of UTF-8 is written as one printable character, so that a vocabulary can be text.
//
// Source: GPT-2. Bytes that are printable in Latin-1 are represented by themselves, and the others, in order, by U+0100
// and the following characters. Constants; any thread.
#pragma once

#include <array>
#include <cstdint>

namespace latebind::embedding {

// All these characters are below this.
inline constexpr char32_t kByteCharsEnd = 0x144;

struct ByteChar {
  char utf8[2];
  std::uint8_t size;
};

// The character of each byte.
extern const std::array<ByteChar, 256> kByteChars;

// The byte of a character, or -1 if it represents none.
[[nodiscard]] int byte_of_char(char32_t c);

}  // namespace latebind::embedding
