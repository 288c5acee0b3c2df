// The parts of the page that change with the status, as HTML without spaces between elements. scripts/view.js has a
// function of the same name for each. Pure functions.
#pragma once

#include <string>

#include "core/json/value.h"

namespace latebind::server {

// A card per model: what answers, why, what waits, and the latest batches.
[[nodiscard]] std::string models_markup(const core::Json& status);
// The lines about the server.
[[nodiscard]] std::string server_markup(const core::Json& status);

}  // namespace latebind::server
