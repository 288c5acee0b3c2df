// Reads a tokenizer.json whose own errors are left to its reader: what is missing or has another type counts as absent.
// Pure functions, any thread.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "core/json.h"
#include "core/json_text.h"

namespace latebind::embedding {

// Null if the object or the member is missing.
inline const nlohmann::json* member(const nlohmann::json* object, std::string_view key) {
  return object == nullptr ? nullptr : core::find_member(*object, key);
}

inline std::string_view text_in(const nlohmann::json* object, std::string_view key) {
  const nlohmann::json* const value = member(object, key);
  return value != nullptr && value->is_string() ? std::string_view(value->get_ref<const std::string&>())
                                                : std::string_view();
}

inline bool flag_in(const nlohmann::json* object, std::string_view key, bool otherwise) {
  const nlohmann::json* const value = member(object, key);
  return value != nullptr && value->is_boolean() ? value->get<bool>() : otherwise;
}

// The parts of a sequence in tokenizer.json, or a single part.
inline std::vector<const nlohmann::json*> parts_of(const nlohmann::json* part, std::string_view list_key) {
  if (part == nullptr) return {};
  const nlohmann::json* const list = member(part, list_key);
  if (list == nullptr || !list->is_array()) return {part};
  std::vector<const nlohmann::json*> parts;
  for (const nlohmann::json& one : *list)
    parts.push_back(&one);
  return parts;
}

inline const nlohmann::json* part_of_type(const std::vector<const nlohmann::json*>& parts, std::string_view type) {
  const auto found =
      std::ranges::find_if(parts, [&](const nlohmann::json* part) { return text_in(part, "type") == type; });
  return found == parts.end() ? nullptr : *found;
}

}  // namespace latebind::embedding
