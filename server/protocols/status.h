// The status document, with all state of the daemon that GET /latebind/status and the page show.
#pragma once

#include "app/json_text.h"
#include "server/service.h"

namespace latebind::server {

[[nodiscard]] app::Json status_json(Service& service);
// The values that metrics need.
[[nodiscard]] ServerGauges gauges_of(Service& service);

}  // namespace latebind::server
