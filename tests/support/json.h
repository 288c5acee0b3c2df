// Values of the tests' own JSON library as those of the product, which live as long as the process.
#pragma once

#include <gtest/gtest.h>

#include <concepts>
#include <deque>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>

#include "core/json/parse.h"

namespace latebind {

inline const core::Json& json_of(std::string_view text) {
  static std::deque<core::Json> kept;  // its elements do not move
  core::Json json;
  const auto mistake = core::read_json(text, {.bytes_max = text.size()}, json);
  EXPECT_FALSE(mistake) << mistake.value_or("") << ": " << text.substr(0, 1000);
  return kept.emplace_back(std::move(json));
}

template <class Value>
requires std::same_as<Value, nlohmann::json>
const core::Json& json_of(const Value& value) {
  return json_of(std::string_view(value.dump()));
}

}  // namespace latebind
