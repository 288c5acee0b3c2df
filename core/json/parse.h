// Parses JSON that comes from outside. simdjson reads it; its values become Json, so nothing depends on the text.
//
// Pure functions, for any thread. They throw nothing but std::bad_alloc.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/json/value.h"
#include "core/result.h"

namespace latebind::core {

// Which value counts when an object has a key twice.
enum class RepeatedKeys : std::uint8_t { kRefused, kFirst, kLast };

// What becomes of numbers that 64 bits cannot represent.
enum class BigNumbers : std::uint8_t {
  kRefused,  // integers of more than 64 bits, and numbers beyond the range of double
  kDoubles,  // such integers become double; numbers beyond its range are refused
  kAny,      // such integers become double; numbers beyond its range become 0
};

struct JsonLimits {
  std::size_t bytes_max = std::size_t{1} << 20;
  std::size_t depth_max = 32;
  std::size_t values_max = std::size_t{1} << 24;
  RepeatedKeys repeated_keys = RepeatedKeys::kRefused;
  BigNumbers big_numbers = BigNumbers::kDoubles;
};

// Reads any JSON value into `json`. Returns the mistake in the text, such as "not JSON: 'input[1]' has a lone surrogate
// at byte 24: it is not Unicode text" or "the key 'a' occurs twice"; std::nullopt if the text has no mistake.
[[nodiscard]] std::optional<std::string> read_json(std::string_view text, const JsonLimits& limits, Json& json);

// Returns the mistake in the text in the words of read_json(), or std::nullopt if the text is JSON. Callers that read
// only parts of a text as values use it.
[[nodiscard]] std::optional<std::string> find_damage(std::string_view text, const JsonLimits& limits);

// Reads what Latebind itself has written; null if it is damaged.
[[nodiscard]] Json json_or_null(std::string_view text);

// Reads the text of a file, which must be an object or an array; a byte order mark is ignored. kInvalidModel, with the
// mistake and `name`, the file's name for messages.
[[nodiscard]] Result<Json> parse_json(std::string_view text, std::string_view name, const JsonLimits& limits = {});

}  // namespace latebind::core
