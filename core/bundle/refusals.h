// Errors about malformed bundles. Pure functions.
#pragma once

#include <fmt/format.h>

#include <string>
#include <string_view>

#include "core/status.h"

namespace latebind::core {

// The error "`where`: `what`" for a bundle that was read.
[[nodiscard]] inline Status invalid_bundle(std::string_view where, std::string_view what) {
  return Status(StatusCode::kInvalidModel, fmt::format("{}: {}", where, what));
}

// Converts a reader's error to the caller's error, for content that is about to be written.
[[nodiscard]] inline Status as_argument(const Status& status) {
  return status.ok() ? status : Status(StatusCode::kInvalidArgument, std::string(status.message()));
}

}  // namespace latebind::core
