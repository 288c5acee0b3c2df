// Members that several protocols share: the role and the task of the texts, which extend the original protocols, and
// the prompt that precedes them.
#pragma once

#include <string>

#include "embedding/inputs/text_role.h"
#include "server/protocols/json_body.h"

namespace latebind::server {

[[nodiscard]] app::Json role_schema();
[[nodiscard]] Problem read_role(const Json& value, embedding::TextRole& role);

template <class Body>
constexpr Member<Body> kRole{"role", false, role_schema,
                             [](const Json& value, Body& body) { return read_role(value, body.role); }};

[[nodiscard]] app::Json task_schema();

template <class Body>
constexpr Member<Body> kTask{"task", false, task_schema,
                             [](const Json& value, Body& body) { return read_text(value, body.task.emplace()); }};

[[nodiscard]] app::Json prompt_name_schema();

template <class Body>
constexpr Member<Body> kPromptName{"prompt_name", false, prompt_name_schema, [](const Json& value, Body& body) {
                                     return read_text(value, body.prompt_name.emplace());
                                   }};

// Rejects a role in requests whose members already distinguish the query, and for labels, whose texts have no roles.
[[nodiscard]] app::Json no_role_schema();

template <class Body>
constexpr Member<Body> kNoRole{"role", false, no_role_schema, [](const Json& /*value*/, Body& /*body*/) -> Problem {
                                 return "is for embedding; the query and the documents of a ranking have fixed roles, "
                                        "and classified texts have none";
                               }};

}  // namespace latebind::server
