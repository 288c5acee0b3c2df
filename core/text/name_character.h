// What names are made of that stand in placements, on the hub and in file names.
#pragma once

namespace latebind::core {

// An ASCII letter or digit, '_', '-' or '.': what no list, path or command line takes for anything else.
[[nodiscard]] constexpr bool is_name_character(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '-' || c == '.';
}

}  // namespace latebind::core
