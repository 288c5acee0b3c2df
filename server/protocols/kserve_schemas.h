// The schemas of KServe's answers, for the OpenAPI document.
#pragma once

#include "app/json_text.h"

namespace latebind::server::kserve {

[[nodiscard]] app::Json live_schema();
[[nodiscard]] app::Json ready_schema();
[[nodiscard]] app::Json model_ready_schema();
[[nodiscard]] app::Json server_schema();
[[nodiscard]] app::Json metadata_schema();
[[nodiscard]] app::Json index_schema();
[[nodiscard]] app::Json bytes_schema();
[[nodiscard]] app::Json refusal_schema();

}  // namespace latebind::server::kserve
