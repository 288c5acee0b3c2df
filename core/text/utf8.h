// UTF-8: checks and cuts text, decodes checked text, and encodes. Pure functions, for any thread.
#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace latebind::core {

// The byte order mark that some programs put before UTF-8 text. It is not part of the text.
inline constexpr std::string_view kByteOrderMark{"\xEF\xBB\xBF", 3};

// Returns the offset of the first byte that does not begin a well-formed character (Unicode 15, table 3-7: no overlong
// forms, no surrogates, nothing above U+10FFFF), or std::nullopt when all of `text` is UTF-8.
[[nodiscard]] std::optional<std::size_t> find_invalid_utf8(std::string_view text);

// Returns how many bytes at the beginning of `text`, which does not begin with a well-formed character, are one error:
// the bytes of the character that are there, or one byte (Unicode 15, section 3.9, "substitution of maximal subparts").
// `text` must not be empty.
[[nodiscard]] std::size_t malformed_utf8_size(std::string_view text);

// Returns the longest prefix of well-formed `text` that has at most `size_max` bytes and splits no character.
[[nodiscard]] std::string_view cut_utf8(std::string_view text, std::size_t size_max);

// Returns the code point that starts at `p`, and moves `p` past it. Only for text that was checked.
inline char32_t decode_utf8(const char*& p) {
  const auto byte = [&p](int i) { return static_cast<char32_t>(static_cast<unsigned char>(p[i])); };
  const char32_t b0 = byte(0);
  if (b0 < 0x80) {
    p += 1;
    return b0;
  }
  if (b0 < 0xE0) {
    const char32_t c = (b0 & 0x1F) << 6 | (byte(1) & 0x3F);
    p += 2;
    return c;
  }
  if (b0 < 0xF0) {
    const char32_t c = (b0 & 0x0F) << 12 | (byte(1) & 0x3F) << 6 | (byte(2) & 0x3F);
    p += 3;
    return c;
  }
  const char32_t c = (b0 & 0x07) << 18 | (byte(1) & 0x3F) << 12 | (byte(2) & 0x3F) << 6 | (byte(3) & 0x3F);
  p += 4;
  return c;
}

inline bool is_utf8_continuation(char byte) {
  return (static_cast<unsigned char>(byte) & 0xC0U) == 0x80U;
}

// Whether the character moves a terminal's cursor, ends a line or changes the direction of text: C0, DEL, C1, line and
// paragraph separators, and bidirectional controls (Unicode 15, Cc, Zl, Zp, and the embeddings of UAX #9).
constexpr bool is_control(char32_t c) {
  return c < 0x20 || (c >= 0x7F && c < 0xA0) || c == 0x2028 || c == 0x2029 || (c >= 0x202A && c <= 0x202E) ||
         (c >= 0x2066 && c <= 0x2069);
}

// Calls shown(bytes) for each character that is not a control character, and hidden(bytes) for each control character
// and for each byte that does not belong to a well-formed character.
template <class Shown, class Hidden>
void for_each_character(std::string_view text, Shown shown, Hidden hidden) {
  while (!text.empty()) {
    const std::size_t good = find_invalid_utf8(text).value_or(text.size());
    const char* p = text.data();
    while (p < text.data() + good) {
      const char* const begin = p;
      const bool is_seen = !is_control(decode_utf8(p));
      const std::string_view bytes(begin, static_cast<std::size_t>(p - begin));
      if (is_seen) {
        shown(bytes);
      } else {
        hidden(bytes);
      }
    }
    if (good < text.size()) hidden(text.substr(good, 1));
    text.remove_prefix(std::min(good + 1, text.size()));
  }
}

// Calls put(char) for each of the one to four bytes of c.
template <class Put>
void encode_utf8(char32_t c, Put put) {
  const auto put_byte = [&put](char32_t byte) { put(static_cast<char>(static_cast<unsigned char>(byte))); };
  if (c < 0x80) {
    put_byte(c);
    return;
  }
  if (c < 0x800) {
    put_byte(0xC0 | c >> 6);
  } else {
    if (c < 0x10000) {
      put_byte(0xE0 | c >> 12);
    } else {
      put_byte(0xF0 | c >> 18);
      put_byte(0x80 | (c >> 12 & 0x3F));
    }
    put_byte(0x80 | (c >> 6 & 0x3F));
  }
  put_byte(0x80 | (c & 0x3F));
}

}  // namespace latebind::core
