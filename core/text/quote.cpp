#include "core/text/quote.h"

#include <fmt/format.h>

#include "core/text/utf8.h"

namespace latebind::core {

std::string printable(std::string_view text, std::size_t size_max) {
  const std::string_view shown = cut_utf8(text, size_max);
  std::string out;
  out.reserve(shown.size());
  for_each_character(
      shown, [&](std::string_view bytes) { out += bytes; },
      [&](std::string_view bytes) {
        for (const char c : bytes)
          out += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
      });
  if (shown.size() < text.size()) out += "…";
  return out;
}

std::string quoted(std::string_view text, std::size_t size_max) {
  return fmt::format("'{}'", printable(text, size_max));
}

}  // namespace latebind::core
