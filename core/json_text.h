// Reads JSON that comes from outside: bounded in size and depth, with errors that name the file and the key.
//
// Pure functions, for any thread. They throw no exceptions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/json.h"
#include "core/result.h"

namespace latebind::core {

struct JsonLimits {
  std::size_t bytes_max = std::size_t{1} << 20;
  std::size_t depth_max = 32;
};

// Parses the text. kInvalidModel when it is too long, nested too deeply, not JSON, has a key twice in one object, or is
// neither an object nor an array. `name` is the file's name for messages.
[[nodiscard]] Result<nlohmann::json> parse_json(std::string_view text, std::string_view name,
                                                const JsonLimits& limits = {});

// Returns a value as one printable line of JSON, for messages.
[[nodiscard]] std::string printable_json(const nlohmann::json& value);

// Returns the value of a key, which belongs to the object. Null when the key is absent, when its value is null, or when
// `object` is not an object.
[[nodiscard]] const nlohmann::json* find_member(const nlohmann::json& object, std::string_view key);

// Whether the value is this text. Unlike ==, this makes no JSON value of the text: without memory for one, == would end
// the process, because it may not throw.
[[nodiscard]] bool is_text(const nlohmann::json& value, std::string_view text);

// Reads a whole number between `least` and `most`; std::nullopt when the key is absent or null. kInvalidModel for
// another type or value.
[[nodiscard]] Result<std::optional<std::size_t>> read_size(const nlohmann::json& object, const char* key,
                                                           std::size_t least, std::size_t most, std::string_view name);
// Reads true or false; `otherwise` when the key is absent or null. kInvalidModel for another type.
[[nodiscard]] Result<bool> read_bool(const nlohmann::json& object, const char* key, bool otherwise,
                                     std::string_view name);
// Reads a text; `otherwise` when the key is absent or null. kInvalidModel for another type.
[[nodiscard]] Result<std::string> read_text(const nlohmann::json& object, const char* key, std::string_view otherwise,
                                            std::string_view name);

}  // namespace latebind::core
