#include "core/text/quote.h"

#include <fmt/format.h>

#include "core/text/utf8.h"

namespace latebind::core {

std::string printable(std::string_view text, std::size_t size_max) {
  const std::string_view shown = cut_utf8(text, size_max);
  const bool is_utf8 = !find_invalid_utf8(shown);
  std::string out;
  out.reserve(shown.size());
  for (const char c : shown) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte == 0x7F || (byte > 0x7F && !is_utf8)) {
      out += fmt::format("\\x{:02x}", byte);
    } else {
      out += c;
    }
  }
  if (shown.size() < text.size()) out += "…";
  return out;
}

std::string quoted(std::string_view text, std::size_t size_max) {
  return "'" + printable(text, size_max) + "'";
}

}  // namespace latebind::core
