// How values of settings are written, wherever they come from: truth values and lists. Pure functions, for any thread.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

namespace latebind::core {

// Returns std::nullopt for any other word.
[[nodiscard]] constexpr std::optional<bool> parse_truth(std::string_view text) {
  if (text == "true" || text == "1" || text == "yes" || text == "on") return true;
  if (text == "false" || text == "0" || text == "no" || text == "off") return false;
  return std::nullopt;
}

// Returns the items between the commas, without the spaces around them. An empty text is one empty item.
[[nodiscard]] inline std::vector<std::string_view> list_items(std::string_view text) {
  std::vector<std::string_view> items;
  for (;;) {
    const auto comma = text.find(',');
    std::string_view item = text.substr(0, comma);
    while (item.starts_with(' '))
      item.remove_prefix(1);
    while (item.ends_with(' '))
      item.remove_suffix(1);
    items.push_back(item);
    if (comma == std::string_view::npos) return items;
    text.remove_prefix(comma + 1);
  }
}

}  // namespace latebind::core
