// Reports as JSON text.
#pragma once

#include <string>

#include "core/json/value.h"
#include "core/status.h"

namespace latebind::app {

// Keys keep their insertion order, which is also the order of the documentation.
using core::Json;

// Indented, with a final newline. Invalid UTF-8 in a vendor's text becomes U+FFFD.
[[nodiscard]] inline std::string to_text(const Json& json) {
  return json.dump(2) + "\n";
}

// On one line, without a newline.
[[nodiscard]] inline std::string to_line(const Json& json) {
  return json.dump();
}

// The reason for a failure. Empty if `status` is ok.
[[nodiscard]] std::string reason_of(const core::Status& status);

// Rounds to this many digits after the decimal point.
[[nodiscard]] double rounded(double value, int decimals);

}  // namespace latebind::app
