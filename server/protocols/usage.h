// The `usage` of an answer as in OpenAI's and Jina's protocols, with one extension. Pure functions, for any thread.
#pragma once

#include <string>

#include "app/json_text.h"
#include "server/service.h"

namespace latebind::server {

// {"prompt_tokens":11,"total_tokens":11}, and "truncated_texts" if texts were truncated.
[[nodiscard]] std::string usage_text(const Vectors& vectors);
[[nodiscard]] app::Json usage_schema();

}  // namespace latebind::server
