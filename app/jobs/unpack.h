// Unpacks a bundle into a folder, for tools that do not read ZIPs.
#pragma once

#include <string>

#include "app/client.h"
#include "app/jobs/placed.h"

namespace latebind::app {

// `folder` must be absent or empty; it appears only once it is complete. Every file is verified while it is copied.
// Fails with kInvalidArgument for an invalid folder, kInvalidModel for a damaged bundle, and with the errors of reading
// and writing.
[[nodiscard]] Placed unpack(const std::string& bundle, const std::string& folder, const Client& client);

}  // namespace latebind::app
