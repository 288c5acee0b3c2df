#include "server/protocols/json_body.h"

#include <array>
#include <cstdint>
#include <limits>

#include "core/text/format_to.h"

namespace latebind::server {

std::optional<Refusal> parse_body(std::string_view text, Json& body) {
  const auto mistake = core::read_json(text,
                                       {.bytes_max = text.size(),
                                        .depth_max = kJsonDepthMax,
                                        .values_max = std::numeric_limits<std::size_t>::max(),
                                        .repeated_keys = core::RepeatedKeys::kFirst,
                                        .big_numbers = core::BigNumbers::kRefused},
                                       body);
  if (!mistake) return std::nullopt;
  return Refusal{.kind = RefusalKind::kBadRequest, .message = "the body is " + *mistake, .param = {}};
}

Problem read_text(const Json& value, std::string& text) {
  if (!value.is_string()) return fmt::format("must be a string, not {}", kind_of(value));
  text = value.text();
  return std::nullopt;
}

Problem unexpected_item(const Json& item, std::string_view place, std::string_view wanted) {
  return fmt::format("has {} at {}; expected {}", kind_of(item), place, wanted);
}

Problem read_bool(const Json& value, bool& truth) {
  if (!value.is_boolean()) return fmt::format("must be true or false, not {}", kind_of(value));
  truth = value.get<bool>();
  return std::nullopt;
}

Problem read_size(const Json& value, std::size_t least, std::size_t most, std::size_t& size) {
  const auto number = value.whole<std::size_t>();
  if (!number || *number < least || *number > most) {
    return fmt::format("must be a whole number from {} to {}", least, most);
  }
  size = *number;
  return std::nullopt;
}

app::Json or_null(app::Json schema) {
  if (const auto type = schema.find("type"); type != nullptr && type->is_string() && type->text() != "null") {
    *type = app::Json::array({*type, "null"});
  }
  if (const auto kinds = schema.find("anyOf"); kinds != nullptr) kinds->push_back(typed_schema("null", ""));
  if (const auto words = schema.find("enum"); words != nullptr) words->push_back(nullptr);
  return schema;
}

app::Json typed_schema(std::string_view type, std::string_view about) {
  app::Json schema;
  schema["type"] = std::string(type);
  if (!about.empty()) schema["description"] = std::string(about);
  return schema;
}

void append_numbers(std::string& out, std::span<const float> row) {
  // The longest float has 15 characters: "-1.17549435e-38".
  constexpr std::size_t kNumberMax = 24;
  const std::size_t begin = out.size();
  out.resize(begin + 2 + row.size() * kNumberMax);
  char* at = out.data() + begin;
  *at++ = '[';
  for (const float number : row) {
    at = fmt::format_to(at, "{}", number);
    *at++ = ',';
  }
  if (!row.empty()) --at;
  *at++ = ']';
  out.resize(static_cast<std::size_t>(at - out.data()));
}

}  // namespace latebind::server
