#include "core/text/utf8.h"

#include <cstdint>
#include <cstring>

namespace latebind::core {

std::optional<std::size_t> find_invalid_utf8(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const auto follows = [&](std::size_t i, unsigned least = 0x80, unsigned most = 0xBF) {
    return i < text.size() && byte(i) >= least && byte(i) <= most;
  };
  std::size_t i = 0;
  while (i < text.size()) {
    // Most text is ASCII for long stretches.
    std::uint64_t eight = 0;
    if (text.size() - i >= sizeof eight) {
      std::memcpy(&eight, text.data() + i, sizeof eight);
      if ((eight & 0x8080808080808080U) == 0) {
        i += sizeof eight;
        continue;
      }
    }
    const unsigned first = byte(i);
    if (first < 0x80) {
      ++i;
    } else if (first >= 0xC2 && first <= 0xDF && follows(i + 1)) {
      i += 2;
    } else if (first >= 0xE0 && first <= 0xEF &&
               follows(i + 1, first == 0xE0 ? 0xA0 : 0x80, first == 0xED ? 0x9F : 0xBF) && follows(i + 2)) {
      i += 3;
    } else if (first >= 0xF0 && first <= 0xF4 &&
               follows(i + 1, first == 0xF0 ? 0x90 : 0x80, first == 0xF4 ? 0x8F : 0xBF) && follows(i + 2) &&
               follows(i + 3)) {
      i += 4;
    } else {
      return i;
    }
  }
  return std::nullopt;
}

std::string_view cut_utf8(std::string_view text, std::size_t size_max) {
  if (text.size() <= size_max) return text;
  std::size_t end = size_max;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U)
    --end;
  return text.substr(0, end);
}

}  // namespace latebind::core
