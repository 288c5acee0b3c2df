// Numbers of JSON with a fraction or an exponent, as the reference reads them. Pure functions, any thread.
//
// The reference's parser (serde_json) takes the digits as a whole number and multiplies or divides by a power of ten,
// so that the last bit is often another than that of the nearest double. Scores are added up and compared, and must be
// the same.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace latebind::embedding {

enum class NumberRounding : std::uint8_t {
  kReference,
  kNearest,  // as Python's parser, through which some scores come to the reference
};

// Takes a well-formed number from the front of `text`. Nothing, and `text` as it was, when there is none, or it is too
// great for a double.
[[nodiscard]] std::optional<double> take_json_number(std::string_view& text,
                                                     NumberRounding rounding = NumberRounding::kReference);

}  // namespace latebind::embedding
