// Parses JSON numbers with a fraction or an exponent as the reference does. Pure functions, any thread.
//
// The reference's parser (serde_json) reads the digits as an integer and multiplies or divides by a power of ten, so
// the last bit often differs from that of the nearest double. Scores are added and compared, and must be the same.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace latebind::embedding {

enum class NumberRounding : std::uint8_t {
  kReference,
  kNearest,  // like Python's parser, through which some scores reach the reference
};

// Takes a well-formed number from the front of `text`. Returns std::nullopt, and leaves `text` unchanged, if there is
// none or it is too large for a double.
[[nodiscard]] std::optional<double> take_json_number(std::string_view& text,
                                                     NumberRounding rounding = NumberRounding::kReference);

}  // namespace latebind::embedding
