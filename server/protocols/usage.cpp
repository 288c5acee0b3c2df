#include "server/protocols/usage.h"

#include <fmt/format.h>

#include "server/protocols/json_body.h"

namespace latebind::server {

std::string usage_text(const Vectors& vectors) {
  std::string text = fmt::format(R"({{"prompt_tokens":{0},"total_tokens":{0})", vectors.tokens);
  if (vectors.truncated_texts > 0) text += fmt::format(R"(,"truncated_texts":{})", vectors.truncated_texts);
  return text + '}';
}

app::Json usage_schema() {
  app::Json schema = typed_schema("object", "");
  schema["properties"]["prompt_tokens"] = typed_schema("integer", "");
  schema["properties"]["total_tokens"] = typed_schema("integer", "");
  schema["properties"]["truncated_texts"] =
      typed_schema("integer", "Number of texts that were cut to the model's limit; missing if none was cut.");
  schema["required"] = app::Json::array({"prompt_tokens", "total_tokens"});
  return schema;
}

}  // namespace latebind::server
