// Writes a text as a JSON string. A pure function.
#pragma once

#include <string>

namespace latebind::provider {

// Bytes outside of ASCII are unchanged.
inline std::string json_quoted(const std::string& text) {
  static constexpr const char* kHex = "0123456789abcdef";
  std::string result = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      result += '\\';
      result += c;
    } else if (byte < 0x20) {
      result += "\\u00";
      result += kHex[byte >> 4U];
      result += kHex[byte & 15U];
    } else {
      result += c;
    }
  }
  return result + '"';
}

}  // namespace latebind::provider
