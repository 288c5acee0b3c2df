// What names are made of that stand in placements, on the hub and in file names.
#pragma once

#include "core/text/ascii.h"

namespace latebind::core {

// An ASCII letter or digit, '_', '-' or '.': what no list, path or command line takes for anything else.
[[nodiscard]] constexpr bool is_name_character(char c) {
  return is_ascii_letter(c) || is_ascii_digit(c) || c == '_' || c == '-' || c == '.';
}

}  // namespace latebind::core
