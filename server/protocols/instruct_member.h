// The member `instruct` of bodies that rank documents: the instruction of a cross-encoder. Pure functions; any thread
// may call them.
#pragma once

#include <optional>
#include <string>

#include "server/protocols/json_body.h"

namespace latebind::server {

[[nodiscard]] inline app::Json instruct_schema() {
  return typed_schema("string", "Instruction of the cross-encoder, instead of the model's default; empty: none.");
}

// For bodies with a member std::optional<std::string> `instruct`.
template <class Body>
constexpr Member<Body> kInstruct{"instruct", false, instruct_schema, [](const Json& value, Body& body) {
                                   return read_text(value, body.instruct.emplace());
                                 }};

}  // namespace latebind::server
