// Errors about malformed bundles.
#pragma once

#include <fmt/format.h>

#include <string>
#include <string_view>

#include "core/status.h"

namespace latebind::core {

// "`where`: `what`", of a bundle that was read.
[[nodiscard]] inline Status invalid_bundle(std::string_view where, std::string_view what) {
  return Status(StatusCode::kInvalidModel, fmt::format("{}: {}", where, what));
}

// What a reader would reject is the caller's error when it is to be written.
[[nodiscard]] inline Status as_argument(const Status& status) {
  return status.ok() ? status : Status(StatusCode::kInvalidArgument, std::string(status.message()));
}

}  // namespace latebind::core
