#include "server/protocols/role_member.h"

namespace latebind::server {

app::Json role_schema() {
  app::Json schema = typed_schema(
      "string", "Whether the texts are queries or documents, for a model with a prompt or a route for each.");
  schema["enum"] = app::Json::array({"query", "document"});
  return schema;
}

app::Json no_role_schema() {
  return typed_schema("null", "Not allowed: the other members determine the role of each text.");
}

app::Json task_schema() {
  return typed_schema("string",
                      "Name of the model's task for the texts, for a model that has several; null: the role's task.");
}

app::Json prompt_name_schema() {
  return typed_schema("string",
                      "Name of the model's prompt to put before every text; empty: none, null: the model's default.");
}

Problem read_role(const Json& value, embedding::TextRole& role) {
  std::string word;
  static_cast<void>(read_text(value, word));
  const auto known = core::parse_word<embedding::TextRole>(word);
  if (!known.ok()) return "must be query or document";
  role = *known;
  return std::nullopt;
}

}  // namespace latebind::server
