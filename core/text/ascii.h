// ASCII letters and digits. Letters of other scripts do not count, and the locale has no influence.
//
// For names of protocols, files and settings, which ignore upper and lower case. Pure functions, for any thread.
#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>

namespace latebind::core {

[[nodiscard]] constexpr bool is_ascii_digit(char c) {
  return c >= '0' && c <= '9';
}

[[nodiscard]] constexpr bool is_ascii_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

// Returns the letter in lower or upper case; every other byte stays as it is.
[[nodiscard]] constexpr char ascii_lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}
[[nodiscard]] constexpr char ascii_upper(char c) {
  return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
}

[[nodiscard]] inline std::string ascii_lowered(std::string_view text) {
  std::string lowered(text);
  for (char& c : lowered)
    c = ascii_lower(c);
  return lowered;
}

[[nodiscard]] constexpr bool equals_in_any_case(std::string_view a, std::string_view b) {
  return std::ranges::equal(a, b, {}, ascii_lower, ascii_lower);
}

[[nodiscard]] constexpr bool starts_with_in_any_case(std::string_view text, std::string_view prefix) {
  return equals_in_any_case(text.substr(0, prefix.size()), prefix);
}

[[nodiscard]] constexpr bool ends_with_in_any_case(std::string_view text, std::string_view ending) {
  return text.size() >= ending.size() && equals_in_any_case(text.substr(text.size() - ending.size()), ending);
}

// Returns the value of a hexadecimal digit in either case, 0 to 15; std::nullopt for other characters.
[[nodiscard]] constexpr std::optional<unsigned> hexadecimal_digit(char c) {
  if (is_ascii_digit(c)) return static_cast<unsigned>(c - '0');
  const char lower = ascii_lower(c);
  if (lower >= 'a' && lower <= 'f') return static_cast<unsigned>(lower - 'a' + 10);
  return std::nullopt;
}

}  // namespace latebind::core
