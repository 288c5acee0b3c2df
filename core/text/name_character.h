// The characters of names that occur in placements, on the hub and in file names.
#pragma once

#include "core/text/ascii.h"

namespace latebind::core {

// Whether `c` is an ASCII letter or digit, '_', '-' or '.': characters without a special meaning in lists, paths and
// command lines.
[[nodiscard]] constexpr bool is_name_character(char c) {
  return is_ascii_letter(c) || is_ascii_digit(c) || c == '_' || c == '-' || c == '.';
}

}  // namespace latebind::core
