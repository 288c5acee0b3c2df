// nlohmann's JSON with values that can be destroyed without allocating. The library's own destructor first builds a
// list of a value's parts, and running out of memory for that list would terminate the process.
//
// Included everywhere instead of the library's own header.
#pragma once

// The library's own checks end the process where an allocation failed and a value is left without what it should point
// to, which the destructor below copes with.
#define JSON_ASSERT(condition) static_cast<void>(0)

#include <nlohmann/json.hpp>

template <>
void nlohmann::json::json_value::destroy(nlohmann::json::value_t t);
template <>
void nlohmann::ordered_json::json_value::destroy(nlohmann::ordered_json::value_t t);

namespace latebind::core {

// Of what is written: its members keep the order in which they were set.
using Json = nlohmann::ordered_json;

}  // namespace latebind::core
