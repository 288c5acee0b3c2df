// Reads one text from one line of JSON without storing the rest.
#pragma once

#include <string>
#include <string_view>

#include "core/result.h"

namespace latebind::cli {

// A text, and the value that identifies it.
struct TextField {
  std::string text{};
  std::string id{};  // empty: no id
};
// Returns the string under the top-level key `field` of the object in `line`; the last one if the key is repeated. Also
// returns the value under `id_field`, as JSON, if that is a string or a number that fits into a double. Returns
// kInvalidArgument if the line is not JSON (with the byte), not an object, lacks the field (with those that it has), or
// if the field is not a string.
[[nodiscard]] core::Result<TextField> text_field(std::string_view line, std::string_view field,
                                                 std::string_view id_field);

}  // namespace latebind::cli
