// Reads the JSON of requests by tables of members, from which the OpenAPI document is generated, too.
//
// The whole body is checked (UTF-8, numbers, depth) before any member is read. Unknown members are ignored, as in the
// original protocols.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "app/json_text.h"
#include "core/json/read.h"
#include "server/refusal.h"

namespace latebind::server {

using core::Json;
using core::kind_of;
// The mistake in a value, such as "must be a string"; std::nullopt if it is correct.
using Problem = std::optional<std::string>;

inline constexpr std::size_t kJsonDepthMax = 32;

// Returns kBadRequest if the text is not JSON.
[[nodiscard]] std::optional<Refusal> parse_body(std::string_view text, Json& body);

template <class Body>
struct Member {
  std::string_view name;
  bool is_required = false;
  app::Json (*schema)() = nullptr;
  Problem (*read)(const Json& value, Body& body) = nullptr;  // not called for null, which counts as missing
};

// Reads the members of an object.
template <class Body, std::size_t N>
[[nodiscard]] std::optional<Refusal> read_members(const Json& object, const std::array<Member<Body>, N>& members,
                                                  Body& body) {
  if (!object.is_object()) {
    return Refusal{.kind = RefusalKind::kBadRequest,
                   .message = "the body must be a JSON object, not " + std::string(kind_of(object)),
                   .param = {}};
  }
  for (const Member<Body>& member : members) {
    const Json* const value = core::find_member(object, member.name);
    if (value == nullptr) {
      if (!member.is_required) continue;
      return Refusal{.kind = RefusalKind::kBadRequest,
                     .message = "'" + std::string(member.name) + "' is missing",
                     .param = std::string(member.name)};
    }
    if (const Problem problem = member.read(*value, body)) {
      return Refusal{.kind = RefusalKind::kBadRequest,
                     .message = "'" + std::string(member.name) + "' " + *problem,
                     .param = std::string(member.name)};
    }
  }
  return std::nullopt;
}

// Reads the members of a nested object.
template <class Body, std::size_t N>
[[nodiscard]] Problem read_object(const Json& value, const std::array<Member<Body>, N>& members, Body& body) {
  if (!value.is_object()) return "must be an object, not " + std::string(kind_of(value));
  if (const auto refusal = read_members(value, members, body)) return "is wrong: " + refusal->message;
  return std::nullopt;
}

// Parses a body and reads its members.
template <class Body, std::size_t N>
[[nodiscard]] std::optional<Refusal> read_body(std::string_view text, const std::array<Member<Body>, N>& members,
                                               Body& body) {
  Json json;
  if (auto refusal = parse_body(text, json)) return refusal;
  return read_members(json, members, body);
}

// Extends a schema to accept null.
[[nodiscard]] app::Json or_null(app::Json schema);

template <class Body, std::size_t N>
[[nodiscard]] app::Json schema_of(const std::array<Member<Body>, N>& members) {
  app::Json schema;
  schema["type"] = "object";
  app::Json required = app::Json::array();
  for (const Member<Body>& member : members) {
    schema["properties"][std::string(member.name)] = member.is_required ? member.schema() : or_null(member.schema());
    if (member.is_required) required.push_back(std::string(member.name));
  }
  if (!required.empty()) schema["required"] = std::move(required);
  return schema;
}

// Limits the number of texts, or lists of token ids, in a body. Beyond the limit they are counted but not read, because
// storing them would only waste memory before the refusal.
struct TextLimit {
  std::size_t most = 0;
  std::size_t too_many = 0;  // the number of texts if above the limit; otherwise 0

  // Whether `count` texts are within the limit. Records the count if not.
  [[nodiscard]] bool has_room_for(std::size_t count) {
    if (count > most) too_many = count;
    return count <= most;
  }
  // The number of texts in the body, given that `read` were read.
  [[nodiscard]] std::size_t count_of(std::size_t read) const { return too_many > 0 ? too_many : read; }
};

// Readers for members of common types.
[[nodiscard]] Problem read_text(const Json& value, std::string& text);
[[nodiscard]] Problem read_bool(const Json& value, bool& truth);
[[nodiscard]] Problem read_size(const Json& value, std::size_t least, std::size_t most, std::size_t& size);

// Returns a problem such as "has null at [1], where a string is expected". `place` is within the member.
[[nodiscard]] Problem unexpected_item(const Json& item, std::string_view place, std::string_view wanted);

// A schema with a type and a description.
[[nodiscard]] app::Json typed_schema(std::string_view type, std::string_view about);

// Appends "[0.1,…]", each number in the shortest form that reads back as the same value.
void append_numbers(std::string& out, std::span<const float> row);

}  // namespace latebind::server
