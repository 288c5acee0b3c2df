#include "core/text/utf8.h"

#include <cstdint>
#include <cstring>

namespace latebind::core {

namespace {

struct Begun {
  std::size_t length;  // 0: no character of several bytes begins so
  // Of the second byte: these bounds shut out overlong forms, surrogates and what lies above U+10FFFF.
  unsigned char low = 0x80;
  unsigned char high = 0xBF;
};

constexpr Begun begun_by(unsigned char lead) {
  if (lead >= 0xC2 && lead <= 0xDF) return {2};
  if (lead == 0xE0) return {3, 0xA0};
  if (lead == 0xED) return {3, 0x80, 0x9F};
  if (lead > 0xE0 && lead <= 0xEF) return {3};
  if (lead == 0xF0) return {4, 0x90};
  if (lead == 0xF4) return {4, 0x80, 0x8F};
  if (lead > 0xF0 && lead < 0xF4) return {4};
  return {0};
}

}  // namespace

std::optional<std::size_t> find_invalid_utf8(std::string_view text) {
  const char* const data = text.data();
  const std::size_t size = text.size();
  const auto byte = [data](std::size_t i) { return static_cast<unsigned char>(data[i]); };
  std::size_t i = 0;
  while (i < size) {
    if (byte(i) < 0x80) {
      std::uint64_t eight = 0;
      while (size - i >= sizeof(eight)) {
        std::memcpy(&eight, data + i, sizeof(eight));
        if ((eight & 0x8080808080808080U) != 0) break;
        i += sizeof(eight);
      }
      while (i < size && byte(i) < 0x80)
        ++i;
      continue;
    }
    const auto [length, low, high] = begun_by(byte(i));
    if (length == 0) return i;
    if (size - i < length || byte(i + 1) < low || byte(i + 1) > high) return i;
    for (std::size_t k = 2; k < length; ++k) {
      if ((byte(i + k) & 0xC0U) != 0x80U) return i;
    }
    i += length;
  }
  return std::nullopt;
}

std::size_t malformed_utf8_size(std::string_view text) {
  auto [length, low, high] = begun_by(static_cast<unsigned char>(text.front()));
  std::size_t good = 1;
  for (; good < length && good < text.size(); ++good) {
    const auto byte = static_cast<unsigned char>(text[good]);
    if (byte < low || byte > high) break;
    low = 0x80;
    high = 0xBF;
  }
  return good;
}

std::string_view cut_utf8(std::string_view text, std::size_t size_max) {
  if (text.size() <= size_max) return text;
  std::size_t end = size_max;
  while (end > 0 && is_utf8_continuation(text[end]))
    --end;
  return text.substr(0, end);
}

}  // namespace latebind::core
