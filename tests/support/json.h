// Values of the tests' own JSON library as those of the product.
#pragma once

#include <gtest/gtest.h>

#include <concepts>
#include <nlohmann/json.hpp>
#include <string_view>

#include "core/json/parse.h"

namespace latebind::testing {

inline core::Json json_of(std::string_view text) {
  core::Json json;
  const auto mistake = core::read_json(text, {.bytes_max = text.size()}, json);
  EXPECT_FALSE(mistake) << mistake.value_or("") << ": " << text.substr(0, 1000);
  return json;
}

template <class Value>
requires std::same_as<Value, nlohmann::json> core::Json json_of(const Value& value) {
  return json_of(std::string_view(value.dump()));
}

}  // namespace latebind::testing
