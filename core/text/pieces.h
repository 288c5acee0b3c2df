// Parts of a text, by the characters between them. Pure functions of views, any thread.
#pragma once

#include <algorithm>
#include <string_view>

namespace latebind::core {

// Takes what stands before the first `end` off the front of `text`, and `end` with it; without one, all of `text`.
[[nodiscard]] constexpr std::string_view take_until(std::string_view& text, char end) {
  const std::size_t size = std::min(text.find(end), text.size());
  const std::string_view piece = text.substr(0, size);
  text.remove_prefix(std::min(size + 1, text.size()));
  return piece;
}

// `text` without any of `blanks` at its beginning and its end.
[[nodiscard]] constexpr std::string_view trimmed(std::string_view text, std::string_view blanks) {
  const std::size_t first = std::min(text.find_first_not_of(blanks), text.size());
  text.remove_prefix(first);
  return text.substr(0, text.find_last_not_of(blanks) + 1);
}

}  // namespace latebind::core
