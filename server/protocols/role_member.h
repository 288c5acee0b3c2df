// A member of the bodies of several protocols, none of whose originals has it: what the texts are.
#pragma once

#include <string>

#include "embedding/text_role.h"
#include "server/protocols/json_body.h"

namespace latebind::server {

[[nodiscard]] app::Json role_schema();
[[nodiscard]] Problem read_role(const JsonValue& value, embedding::TextRole& role);

template <class Body>
constexpr Member<Body> kRole{"role", false, role_schema,
                             [](const JsonValue& value, Body& body) { return read_role(value, body.role); }};

}  // namespace latebind::server
