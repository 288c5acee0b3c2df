// Reads a tokenizer.json whose own errors are left to its reader: what is missing or has another type counts as absent.
// Pure functions, any thread.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "core/json/read.h"
#include "core/json/value.h"

namespace latebind::embedding {

// Null if the object or the member is missing.
inline const core::Json* member(const core::Json* object, std::string_view key) {
  return object == nullptr ? nullptr : core::find_member(*object, key);
}

inline std::string_view text_in(const core::Json* object, std::string_view key) {
  const core::Json* const value = member(object, key);
  return value != nullptr && value->is_string() ? std::string_view(value->text()) : std::string_view();
}

inline bool flag_in(const core::Json* object, std::string_view key, bool otherwise) {
  const core::Json* const value = member(object, key);
  return value != nullptr && value->is_boolean() ? value->get<bool>() : otherwise;
}

// The parts of a sequence in tokenizer.json, or a single part.
inline std::vector<const core::Json*> parts_of(const core::Json* part, std::string_view list_key) {
  if (part == nullptr) return {};
  const core::Json* const list = member(part, list_key);
  if (list == nullptr || !list->is_array()) return {part};
  std::vector<const core::Json*> parts;
  for (const core::Json& one : *list)
    parts.push_back(&one);
  return parts;
}

inline const core::Json* part_of_type(const std::vector<const core::Json*>& parts, std::string_view type) {
  const auto found = std::ranges::find_if(parts, [&](const core::Json* part) { return text_in(part, "type") == type; });
  return found == parts.end() ? nullptr : *found;
}

}  // namespace latebind::embedding
