#include "core/text/one_line.h"

namespace latebind::core {

std::string one_line(std::string_view text) {
  std::string line;
  line.reserve(text.size());
  bool gap = false;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '\n' || c == '\r' || c == '\t' || (c == ' ' && gap)) {
      gap = true;
      continue;
    }
    if (gap && !line.empty()) line += ' ';
    gap = false;
    line += byte < 0x20 || byte == 0x7F ? '?' : c;
  }
  return line;
}

}  // namespace latebind::core
