// One text from one line of JSON, without storing the rest of it.
#pragma once

#include <string>
#include <string_view>

#include "core/result.h"

namespace latebind::cli {

// The string under the key `field` at the top of the object that `line` holds; the last one when the key occurs more
// than once. Memory is bounded by the line's own size. kInvalidArgument says what is wrong: not JSON (and at which
// byte), not an object, no such field, or a field that is not a string.
[[nodiscard]] core::Result<std::string> string_field(std::string_view line, std::string_view field);

// The same, and beside it what is under `id_field`, if that is a string or a number that a double holds: as JSON.
struct TextField {
  std::string text{};
  std::string id{};  // "" for none
};
[[nodiscard]] core::Result<TextField> text_field(std::string_view line, std::string_view field,
                                                 std::string_view id_field);

}  // namespace latebind::cli
