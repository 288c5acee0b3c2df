// Fuzzes the reader of JSON: outside bytes as a document, whose first byte chooses what becomes of repeated keys and of
// numbers that 64 bits cannot represent.
//
// What it reads is what nlohmann-json reads, what it refuses has a place, and what it writes reads back as the same.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "core/json/parse.h"
#include "core/text/utf8.h"

namespace {

namespace core = latebind::core;
using core::Json;

void require(bool holds) {
  if (!holds) std::abort();
}

void require_same(const Json& json, const nlohmann::json& other) {
  require(json.is_object() == other.is_object() && json.is_array() == other.is_array());
  require(json.is_string() == other.is_string() && json.is_number() == other.is_number());
  require(json.is_boolean() == other.is_boolean() && json.is_null() == other.is_null());
  if (json.is_structured()) require(json.size() == other.size());
  for (const auto& [key, value] : json.members())
    require_same(value, other.at(key));
  for (std::size_t i = 0; i < json.items().size(); ++i)
    require_same(json[i], other[i]);
  if (json.is_string()) require(json.text() == other.get_ref<const std::string&>());
  if (json.is_boolean()) require(json.get<bool>() == other.get<bool>());
  if (json.is_number()) require(json.get<double>() == other.get<double>());
  if (json.is_number_unsigned()) require(json.get<std::uint64_t>() == other.get<std::uint64_t>());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data + 1), size - 1);
  const core::JsonLimits limits{.bytes_max = text.size(),
                                .repeated_keys = static_cast<core::RepeatedKeys>(data[0] % 3),
                                .big_numbers = static_cast<core::BigNumbers>(data[0] / 3 % 3)};
  Json json;
  if (const auto mistake = core::read_json(text, limits, json)) {
    require(!core::find_invalid_utf8(*mistake));
    const auto damage = core::find_damage(text, limits);
    require(!damage || *damage == *mistake);
    return 0;
  }
  require(!core::find_damage(text, limits));
  // The other library takes the last of repeated keys, and refuses what is beyond a double.
  const auto other = nlohmann::json::parse(text, nullptr, /*allow_exceptions=*/false);
  require(!other.is_discarded() || limits.big_numbers == core::BigNumbers::kAny);
  if (!other.is_discarded() && limits.repeated_keys != core::RepeatedKeys::kFirst) require_same(json, other);
  for (const std::string& written : {json.dump(), json.dump(2)}) {
    Json again;
    require(!core::read_json(written, {.bytes_max = written.size()}, again));
    require(again == json);
  }
  return 0;
}
