// A bundle as a folder, for tools that do not read ZIPs.
#pragma once

#include <string>

#include "app/client.h"
#include "app/jobs/placed.h"

namespace latebind::app {

// `folder`: absent or empty; it appears only when it is complete. Every file is checked on the way. Failures:
// kInvalidArgument for an invalid folder, kInvalidModel for a bundle that is damaged, and the errors of reading and
// writing.
[[nodiscard]] Placed unpack(const std::string& bundle, const std::string& folder, const Client& client);

}  // namespace latebind::app
