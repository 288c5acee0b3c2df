// Reads one text from one line of JSON without storing the rest.
#pragma once

#include <string>
#include <string_view>

#include "core/result.h"

namespace latebind::cli {

// Returns the string under the top-level key `field` of the object in `line`; the last one if the key is repeated. Uses
// no more memory than the line. Returns kInvalidArgument if the line is not JSON (with the byte), not an object, lacks
// the field, or if the field is not a string.
[[nodiscard]] core::Result<std::string> string_field(std::string_view line, std::string_view field);

// Like string_field(), and also returns the value under `id_field`, as JSON, if that is a string or a number that fits
// into a double.
struct TextField {
  std::string text{};
  std::string id{};  // empty: no id
};
[[nodiscard]] core::Result<TextField> text_field(std::string_view line, std::string_view field,
                                                 std::string_view id_field);

}  // namespace latebind::cli
