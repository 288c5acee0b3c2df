#include "core/text/encoding_fault.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

namespace latebind::core {

std::string encoding_fault(std::string_view line, std::size_t bad, bool is_first) {
  std::string_view remedy = "if it is Latin-1, convert it with `iconv -f WINDOWS-1252 -t UTF-8`";
  if (is_first && begins_as_utf16(line)) {
    remedy = "it begins like UTF-16: convert it with `iconv -f UTF-16 -t UTF-8`";
  } else if (line.find('\0') != std::string_view::npos) {
    remedy = "it has zero bytes, so it is not text";
  }
  return fmt::format("invalid UTF-8 at byte {} of the line (0x{:02X}); {}", bad + 1,
                     static_cast<unsigned char>(line[bad]), remedy);
}

LineOf line_of(std::string_view content, std::size_t byte) {
  const std::string_view before = content.substr(0, byte);
  return {.number = static_cast<std::uint64_t>(std::ranges::count(before, '\n')) + 1,
          .begin = before.rfind('\n') + 1};  // npos + 1 is 0
}

bool begins_as_utf16(std::string_view content) {
  return content.starts_with("\xFF\xFE") || content.starts_with("\xFE\xFF");
}

}  // namespace latebind::core
