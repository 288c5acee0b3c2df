#include "embedding/tokenizer/byte_chars.h"

namespace latebind::embedding {
namespace {

constexpr bool stands_for_itself(unsigned byte) {
  return (byte >= 0x21 && byte <= 0x7E) || (byte >= 0xA1 && byte != 0xAD);
}

constexpr std::array<char32_t, 256> make_code_points() {
  std::array<char32_t, 256> code_points{};
  char32_t next = 0x100;
  for (unsigned byte = 0; byte < 256; ++byte)
    code_points[byte] = stands_for_itself(byte) ? static_cast<char32_t>(byte) : next++;
  return code_points;
}

constexpr std::array<char32_t, 256> kCodePoints = make_code_points();

constexpr std::array<ByteChar, 256> make_byte_chars() {
  std::array<ByteChar, 256> chars{};
  for (unsigned byte = 0; byte < 256; ++byte) {
    const char32_t c = kCodePoints[byte];
    if (c < 0x80) {
      chars[byte] = {{static_cast<char>(c), 0}, 1};
    } else {
      chars[byte] = {{static_cast<char>(0xC0 | c >> 6), static_cast<char>(0x80 | (c & 0x3F))}, 2};
    }
  }
  return chars;
}

constexpr std::array<std::int16_t, kByteCharsEnd> make_bytes() {
  std::array<std::int16_t, kByteCharsEnd> bytes{};
  for (auto& byte : bytes)
    byte = -1;
  for (unsigned byte = 0; byte < 256; ++byte)
    bytes[kCodePoints[byte]] = static_cast<std::int16_t>(byte);
  return bytes;
}

constexpr std::array<std::int16_t, kByteCharsEnd> kBytes = make_bytes();

}  // namespace

constexpr std::array<ByteChar, 256> kByteChars = make_byte_chars();

int byte_of_char(char32_t c) {
  return c < kByteCharsEnd ? kBytes[c] : -1;
}

}  // namespace latebind::embedding
