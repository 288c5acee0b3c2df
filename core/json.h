// nlohmann's JSON with values that can be destroyed without allocating. The library's own destructor first builds a
// list of a value's parts, and running out of memory for that list would terminate the process.
//
// Included everywhere instead of the library's own header.
#pragma once

// The library's own checks end the process where an allocation failed and a value is left without what it should point
// to, which the destructor below copes with.
#define JSON_ASSERT(condition) static_cast<void>(0)

#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>

template <>
void nlohmann::json::json_value::destroy(nlohmann::json::value_t t);
template <>
void nlohmann::ordered_json::json_value::destroy(nlohmann::ordered_json::value_t t);

namespace latebind::core {

// Of what is written: its members keep the order in which they were set.
using Json = nlohmann::ordered_json;

// Where the text has a zero byte, counted from 0. JSON never has one, but the library takes it for the end of the text:
// to be asked about all text from outside before it is parsed.
[[nodiscard]] std::optional<std::size_t> find_zero_byte(std::string_view text);

}  // namespace latebind::core
