// Operations on text as Python's `str` has them, for tokenizers that are Python code.
//
// Texts must be well-formed UTF-8. Pure functions, for any thread.
#pragma once

#include <string>
#include <string_view>

namespace latebind::embedding {

// Whether str.split() ends a word at this code point.
[[nodiscard]] constexpr bool is_python_space(char32_t c) {
  return (c >= 0x09 && c <= 0x0D) || (c >= 0x1C && c <= 0x20) || c == 0x85 || c == 0xA0 || c == 0x1680 ||
         (c >= 0x2000 && c <= 0x200A) || c == 0x2028 || c == 0x2029 || c == 0x202F || c == 0x205F || c == 0x3000;
}

// Returns str.lower(): full lower case, and a capital sigma at the end of a word becomes a final one.
[[nodiscard]] std::string python_lower(std::string_view text);

// Returns str.strip(): the text between white space at both ends.
[[nodiscard]] std::string_view strip_python_spaces(std::string_view text);

// Returns str.strip(string.punctuation): the text between ASCII punctuation at both ends.
[[nodiscard]] std::string_view strip_ascii_punctuation(std::string_view text);

}  // namespace latebind::embedding
