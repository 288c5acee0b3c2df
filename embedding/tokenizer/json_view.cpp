#include "embedding/tokenizer/json_view.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/text/nearest_word.h"
#include "core/text/quote.h"
#include "core/text/utf8.h"

namespace latebind::embedding {

using core::Json;
using core::Result;
using core::Status;
using core::StatusCode;

Result<JsonView> JsonView::object(const Json& value, std::string name) {
  if (!value.is_object()) return Status(StatusCode::kInvalidModel, fmt::format("{} is not an object", name));
  return JsonView(value, std::move(name));
}

const Json* JsonView::find(std::string_view key) const {
  return value_->find(key);
}

Status JsonView::wrong_kind(std::string_view key, std::string_view expected) const {
  return {StatusCode::kInvalidModel, find(key) == nullptr ? fmt::format("{} has no '{}' ({})", name_, key, expected)
                                                          : fmt::format("{}.{} is not {}", name_, key, expected)};
}

Result<bool> JsonView::boolean(std::string_view key) const {
  const Json* value = find(key);
  if (value == nullptr || !value->is_boolean()) return wrong_kind(key, "true or false");
  return value->get<bool>();
}

Result<std::string> JsonView::string(std::string_view key) const {
  const Json* value = find(key);
  if (value == nullptr || !value->is_string()) return wrong_kind(key, "a string");
  return value->get<std::string>();
}

Result<std::string> JsonView::character(std::string_view key) const {
  auto text = string(key);
  if (text.ok() &&
      std::count_if(text->begin(), text->end(), [](char c) { return !core::is_utf8_continuation(c); }) != 1) {
    return wrong_kind(key, "one character");
  }
  return text;
}

Result<std::uint64_t> JsonView::whole_number(std::string_view key) const {
  const Json* value = find(key);
  if (value == nullptr || !value->is_number_unsigned()) return wrong_kind(key, "a whole number from 0");
  return value->get<std::uint64_t>();
}

Result<const Json*> JsonView::array(std::string_view key) const {
  const Json* value = find(key);
  if (value == nullptr || !value->is_array()) return wrong_kind(key, "an array");
  return value;
}

Result<JsonView> JsonView::object(std::string_view key) const {
  const Json* value = find(key);
  if (value == nullptr || !value->is_object()) return wrong_kind(key, "an object");
  return JsonView(*value, fmt::format("{}.{}", name_, key));
}

Status JsonView::only_keys(std::initializer_list<std::string_view> known) const {
  for (const auto& [key, value] : value_->members()) {
    if (std::find(known.begin(), known.end(), key) == known.end() && !value.is_null()) {
      return {StatusCode::kUnsupported, fmt::format("{} has the key {}, which is not supported{}", name_,
                                                    core::quoted(key), core::supported_instead(key, known))};
    }
  }
  return {};
}

Result<std::int32_t> token_id(const Json& value, std::size_t id_end, std::string_view place) {
  if (!value.is_number_unsigned() || value.get<std::uint64_t>() >= id_end) {
    return Status(StatusCode::kInvalidModel, fmt::format("{} is not the id of a token (below {})", place, id_end));
  }
  return static_cast<std::int32_t>(value.get<std::uint64_t>());
}

}  // namespace latebind::embedding
