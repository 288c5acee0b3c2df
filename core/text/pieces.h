// Splits texts at separators. Pure functions on views, for any thread.
#pragma once

#include <algorithm>
#include <string_view>

namespace latebind::core {

// Removes everything up to and including the first `end` from `text`, and returns the part before `end`. Without an
// `end`, it removes and returns all of `text`.
[[nodiscard]] constexpr std::string_view take_until(std::string_view& text, char end) {
  const std::size_t size = std::min(text.find(end), text.size());
  const std::string_view piece = text.substr(0, size);
  text.remove_prefix(std::min(size + 1, text.size()));
  return piece;
}

// Returns `text` without any of the characters `blanks` at its beginning and its end.
[[nodiscard]] constexpr std::string_view trimmed(std::string_view text, std::string_view blanks) {
  const std::size_t first = std::min(text.find_first_not_of(blanks), text.size());
  text.remove_prefix(first);
  return text.substr(0, text.find_last_not_of(blanks) + 1);
}

}  // namespace latebind::core
