// Byte-level text: each byte of UTF-8 written as one printable character, so that a vocabulary can be text.
//
// Source: GPT-2. Bytes that are printable in Latin-1 stand for themselves, the others, in their order, for U+0100 and
// what follows. Constants; any thread.
#pragma once

#include <array>
#include <cstdint>

namespace latebind::embedding {

// The characters are below this.
inline constexpr char32_t kByteCharsEnd = 0x144;

struct ByteChar {
  char utf8[2];
  std::uint8_t size;
};

// The character of every byte.
extern const std::array<ByteChar, 256> kByteChars;

// The byte of a character, or -1.
[[nodiscard]] int byte_of_char(char32_t c);

}  // namespace latebind::embedding
