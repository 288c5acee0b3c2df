// The status document: everything that the daemon knows of itself, as GET /latebind/status and the page show it.
#pragma once

#include "app/json_text.h"
#include "server/service.h"

namespace latebind::server {

[[nodiscard]] app::Json status_json(Service& service);
// For the metrics.
[[nodiscard]] ServerGauges gauges_of(Service& service);

}  // namespace latebind::server
