#include "server/protocols/role_member.h"

namespace latebind::server {

app::Json role_schema() {
  app::Json schema =
      typed_schema("string", "What the texts are to a model that has a prompt for each, or a way of its own.");
  schema["enum"] = app::Json::array({"query", "document"});
  return schema;
}

app::Json no_role_schema() {
  return typed_schema("null", "Refused: the other members say what each text is.");
}

app::Json prompt_name_schema() {
  return typed_schema("string",
                      "The prompt of the model that is put before every text; empty: none, null: the model's default.");
}

Problem read_role(const JsonValue& value, embedding::TextRole& role) {
  std::string word;
  static_cast<void>(read_text(value, word));
  const auto known = core::parse_word<embedding::TextRole>(word);
  if (!known.ok()) return "must be query or document";
  role = *known;
  return std::nullopt;
}

}  // namespace latebind::server
