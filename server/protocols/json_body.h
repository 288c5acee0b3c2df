// JSON of requests: members read by a table, which is also what the OpenAPI document shows of them.
//
// simdjson checks the whole body (UTF-8, numbers, depth) before a member is looked at. Unknown members are ignored, as
// the originals of the protocols do. One thread at a time for each body.
#pragma once

#include <simdjson.h>

#include <array>
#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "app/json_text.h"
#include "server/refusal.h"

namespace latebind::server {

using JsonValue = simdjson::dom::element;
// What is wrong with a value, as in "must be a string"; nothing where it is right.
using Problem = std::optional<std::string>;

inline constexpr std::size_t kJsonDepthMax = 32;

// "null", "a number": what a value is instead of what it must be.
[[nodiscard]] std::string_view kind_of(const JsonValue& value);

// A body that was parsed; values refer to it.
class JsonBody {
 public:
  // kBadRequest where it is no JSON.
  [[nodiscard]] std::optional<Refusal> parse(std::string_view text);
  [[nodiscard]] const JsonValue& root() const { return root_; }

 private:
  std::shared_ptr<simdjson::dom::parser> parser_;
  JsonValue root_;
};

template <class Body>
struct Member {
  std::string_view name;
  bool is_required = false;
  app::Json (*schema)() = nullptr;
  Problem (*read)(const JsonValue& value, Body& body) = nullptr;  // never for null, which is like a missing member
};

// Reads the members of an object.
template <class Body, std::size_t N>
[[nodiscard]] std::optional<Refusal> read_members(const JsonValue& object, const std::array<Member<Body>, N>& members,
                                                  Body& body) {
  simdjson::dom::object fields;
  if (object.get(fields) != simdjson::SUCCESS) {
    return Refusal{.kind = RefusalKind::kBadRequest,
                   .message = "the body must be a JSON object, not " + std::string(kind_of(object)),
                   .param = {}};
  }
  for (const Member<Body>& member : members) {
    JsonValue value;
    const auto found = fields.at_key(member.name).get(value);
    if (found != simdjson::SUCCESS || value.is_null()) {
      if (!member.is_required) continue;
      return Refusal{.kind = RefusalKind::kBadRequest,
                     .message = "'" + std::string(member.name) + "' is missing",
                     .param = std::string(member.name)};
    }
    if (const Problem problem = member.read(value, body)) {
      return Refusal{.kind = RefusalKind::kBadRequest,
                     .message = "'" + std::string(member.name) + "' " + *problem,
                     .param = std::string(member.name)};
    }
  }
  return std::nullopt;
}

// Reads the members of an object that is a member itself.
template <class Body, std::size_t N>
[[nodiscard]] Problem read_object(const JsonValue& value, const std::array<Member<Body>, N>& members, Body& body) {
  if (!value.is_object()) return "must be an object, not " + std::string(kind_of(value));
  if (const auto refusal = read_members(value, members, body)) return "is wrong: " + refusal->message;
  return std::nullopt;
}

// Parses a body and reads its members.
template <class Body, std::size_t N>
[[nodiscard]] std::optional<Refusal> read_body(std::string_view text, const std::array<Member<Body>, N>& members,
                                               Body& body) {
  JsonBody json;
  if (auto refusal = json.parse(text)) return refusal;
  return read_members(json.root(), members, body);
}

// The schema that also takes null.
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

// How many texts, or lists of token ids, a body may have. Where there are more they are counted and not read: each
// would take memory only to be refused.
struct TextLimit {
  std::size_t most = 0;
  std::size_t too_many = 0;  // how many there are; 0: they are read

  // Whether so many are to be read.
  [[nodiscard]] bool has_room_for(std::size_t count) {
    if (count > most) too_many = count;
    return count <= most;
  }
  // How many the body has, of which `read` were read.
  [[nodiscard]] std::size_t count_of(std::size_t read) const { return too_many > 0 ? too_many : read; }
};

// Members of the usual kinds.
[[nodiscard]] Problem read_text(const JsonValue& value, std::string& text);
[[nodiscard]] Problem read_bool(const JsonValue& value, bool& truth);
[[nodiscard]] Problem read_size(const JsonValue& value, std::size_t least, std::size_t most, std::size_t& size);

// "has null at [1], where a string is expected". `place`: within the member.
[[nodiscard]] Problem unexpected_item(const JsonValue& item, std::string_view place, std::string_view wanted);

// A schema with a type, and a sentence about it.
[[nodiscard]] app::Json typed_schema(std::string_view type, std::string_view about);

// Appends to an answer.
void append_string(std::string& out, std::string_view text);  // with quotes; `text` is UTF-8
void append_numbers(std::string& out,
                    std::span<const float> row);  // "[0.1,…]": the shortest that reads back as the same

}  // namespace latebind::server
