#include "core/json/read.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>
#include <vector>

#include "core/platform/files/folders.h"
#include "core/text/git_lfs.h"
#include "core/text/quote.h"

namespace latebind::core {
namespace {

Status invalid(std::string_view name, std::string_view what) {
  return Status(StatusCode::kInvalidModel, fmt::format("{}: {}", name, what));
}

}  // namespace

std::string_view kind_of(const Json& value) {
  if (value.is_number()) return "a number";
  if (value.is_string()) return "a string";
  if (value.is_boolean()) return "true or false";
  if (value.is_array()) return "an array";
  if (value.is_object()) return "an object";
  return "null";
}

std::string printable_json(const Json& value) {
  return printable(value.dump());
}

Result<std::optional<std::size_t>> read_size(const Json& object, const char* key, std::size_t least, std::size_t most,
                                             std::string_view name) {
  const Json* value = find_member(object, key);
  if (value == nullptr) return std::optional<std::size_t>();
  if (!value->is_number_integer()) {
    return invalid(name, fmt::format("'{}' must be a whole number, found {}", key, kind_of(*value)));
  }
  const bool negative = !value->is_number_unsigned() && value->get<std::int64_t>() < 0;
  if (negative || value->get<std::uint64_t>() < least || value->get<std::uint64_t>() > most) {
    return invalid(name, fmt::format("'{}' is {}, must be between {} and {}", key, value->dump(), least, most));
  }
  return std::optional<std::size_t>(value->get<std::size_t>());
}

const Json* find_member(const Json& object, std::string_view key) {
  const Json* const found = object.find(key);
  return found == nullptr || found->is_null() ? nullptr : found;
}

Result<bool> read_bool(const Json& object, const char* key, bool otherwise, std::string_view name) {
  const Json* value = find_member(object, key);
  if (value == nullptr) return otherwise;
  if (!value->is_boolean()) {
    return invalid(name, fmt::format("'{}' must be true or false, found {}", key, kind_of(*value)));
  }
  return value->get<bool>();
}

Result<std::string> read_text(const Json& object, const char* key, std::string_view otherwise, std::string_view name) {
  const Json* value = find_member(object, key);
  if (value == nullptr) return std::string(otherwise);
  if (!value->is_string()) return invalid(name, fmt::format("'{}' must be a string, found {}", key, kind_of(*value)));
  return value->get<std::string>();
}

Result<std::optional<std::vector<std::string>>> read_texts(const Json& object, const char* key, std::string_view name) {
  const Json* value = find_member(object, key);
  if (value == nullptr) return std::optional<std::vector<std::string>>();
  const bool is_list = value->is_array() && std::ranges::all_of(value->items(), [](const Json& one) {
                         return one.is_string() && !one.text().empty();
                       });
  if (!is_list) return invalid(name, fmt::format("'{}' must be a list of texts that are not empty", key));
  std::vector<std::string> texts;
  for (const Json& one : value->items())
    texts.push_back(one.text());
  return std::optional(std::move(texts));
}

}  // namespace latebind::core
