// Builds the OpenAPI 3.1 document of all protocols from their tables.
#pragma once

#include "app/json_text.h"

namespace latebind::server {

[[nodiscard]] app::Json openapi_document();

}  // namespace latebind::server
