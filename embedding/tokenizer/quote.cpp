#include "embedding/tokenizer/quote.h"

#include <fmt/format.h>

#include <cstddef>

#include "embedding/tokenizer/utf8.h"

namespace latebind::embedding {

std::string quote(std::string_view text) {
  constexpr std::size_t kBytesMax = 64;
  std::string_view shown = text.substr(0, kBytesMax);
  const bool cut = shown.size() < text.size();
  while (cut && !shown.empty() && is_utf8_continuation(text[shown.size()]))
    shown.remove_suffix(1);
  const bool escape_all = find_invalid_utf8(shown) != std::string_view::npos;
  std::string out = "\"";
  for (const char c : shown) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte == 0x7F || (escape_all && byte >= 0x80)) {
      out += fmt::format("\\x{:02X}", byte);
    } else {
      out += c;
    }
  }
  out += cut ? "\"…" : "\"";
  return out;
}

}  // namespace latebind::embedding
