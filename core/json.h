// nlohmann's JSON with values that can be destroyed without allocating. The library's own destructor first builds a
// list of a value's parts, and running out of memory for that list would terminate the process.
//
// Include this header instead of the library's own.
#pragma once

// The library's own checks would end the process when an allocation failed and left a value without its content. The
// destructor below handles such values.
#define JSON_ASSERT(condition) static_cast<void>(0)

#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>

template <>
void nlohmann::json::json_value::destroy(nlohmann::json::value_t t);
template <>
void nlohmann::ordered_json::json_value::destroy(nlohmann::ordered_json::value_t t);

namespace latebind::core {

// The type for JSON that is written: members keep the order in which they were set.
using Json = nlohmann::ordered_json;

// Returns the offset of the first zero byte in the text, or std::nullopt. JSON never contains one, but the library
// takes it for the end of the text. Check all text from outside before parsing it.
[[nodiscard]] std::optional<std::size_t> find_zero_byte(std::string_view text);

}  // namespace latebind::core
