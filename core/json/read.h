// Reads members of JSON that comes from outside, with errors that name the file and the key.
//
// Pure functions, for any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/json/parse.h"
#include "core/json/value.h"
#include "core/result.h"

namespace latebind::core {

// Names the kind of a value for messages: "null", "a number".
[[nodiscard]] std::string_view kind_of(const Json& value);

// Returns a value as one printable line of JSON, for messages.
[[nodiscard]] std::string printable_json(const Json& value);

// Returns the value of a key, which belongs to the object. Null when the key is absent, when its value is null, or when
// `object` is not an object.
[[nodiscard]] const Json* find_member(const Json& object, std::string_view key);

// Reads a whole number between `least` and `most`; std::nullopt when the key is absent or null. kInvalidModel for
// another type or value.
[[nodiscard]] Result<std::optional<std::size_t>> read_size(const Json& object, const char* key, std::size_t least,
                                                           std::size_t most, std::string_view name);
// Reads true or false; `otherwise` when the key is absent or null. kInvalidModel for another type.
[[nodiscard]] Result<bool> read_bool(const Json& object, const char* key, bool otherwise, std::string_view name);
// Reads a text; `otherwise` when the key is absent or null. kInvalidModel for another type.
[[nodiscard]] Result<std::string> read_text(const Json& object, const char* key, std::string_view otherwise,
                                            std::string_view name);
// Reads a list of texts, none of them empty; std::nullopt when the key is absent or null. kInvalidModel for another
// type, or an empty text.
[[nodiscard]] Result<std::optional<std::vector<std::string>>> read_texts(const Json& object, const char* key,
                                                                         std::string_view name);

}  // namespace latebind::core
