#include "core/text/one_line.h"

#include "core/text/utf8.h"

namespace latebind::core {

std::string one_line(std::string_view text) {
  std::string line;
  line.reserve(text.size());
  bool gap = false;
  const auto put = [&](std::string_view bytes) {
    if (gap && bytes == " ") return;
    if (gap) {
      while (line.ends_with(' '))
        line.pop_back();
      if (!line.empty()) line += ' ';
    }
    gap = false;
    line += bytes;
  };
  for_each_character(text, put, [&](std::string_view bytes) {
    if (bytes == "\n" || bytes == "\r" || bytes == "\t") {
      gap = true;
    } else {
      put("?");
    }
  });
  while (gap && line.ends_with(' '))
    line.pop_back();
  return line;
}

}  // namespace latebind::core
