// nlohmann's JSON whose values go without needing memory. The library takes a value apart in its destructor by way of a
// list that it makes first, and no memory for that list would be the end of the process.
//
// Included instead of the library's own header, so that all of the program does it alike.
#pragma once

#include <nlohmann/json.hpp>

template <>
void nlohmann::json::json_value::destroy(nlohmann::json::value_t t);
template <>
void nlohmann::ordered_json::json_value::destroy(nlohmann::ordered_json::value_t t);
