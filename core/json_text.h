// Reading JSON that comes from outside: bounded in size and depth, with errors that name the file and the key.
//
// Pure functions, for any thread. No exception leaves them.
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

// kInvalidModel when the text is too long, too deep, no JSON, has a key twice in one object, or is neither an object
// nor an array. `name` stands for the file.
[[nodiscard]] Result<nlohmann::json> parse_json(std::string_view text, std::string_view name,
                                                const JsonLimits& limits = {});

// A value as JSON, for messages: in one printable line.
[[nodiscard]] std::string printable_json(const nlohmann::json& value);

// The value of a key, which belongs to the object; null when the key is absent or its value is null, and of what is no
// object.
[[nodiscard]] const nlohmann::json* find_member(const nlohmann::json& object, std::string_view key);

// Whether it is this text. Not by ==, which makes a JSON value of the text where no exception may leave: without memory
// for it the process would end.
[[nodiscard]] bool is_text(const nlohmann::json& value, std::string_view text);

// A whole number between `least` and `most`; nothing when the key is absent or null. kInvalidModel for another type or
// value.
[[nodiscard]] Result<std::optional<std::size_t>> read_size(const nlohmann::json& object, const char* key,
                                                           std::size_t least, std::size_t most, std::string_view name);
// True or false, `otherwise` when the key is absent or null.
[[nodiscard]] Result<bool> read_bool(const nlohmann::json& object, const char* key, bool otherwise,
                                     std::string_view name);
// A text, `otherwise` when the key is absent or null.
[[nodiscard]] Result<std::string> read_text(const nlohmann::json& object, const char* key, std::string_view otherwise,
                                            std::string_view name);

}  // namespace latebind::core
