// Reports as JSON, for programs.
#pragma once

#include <string>

#include "core/json.h"
#include "core/status.h"

namespace latebind::app {

// Keys keep the order in which they are set, which is also the order of the documentation.
using core::Json;

// Indented text with a line end. Invalid UTF-8 in a vendor's text becomes U+FFFD.
[[nodiscard]] inline std::string to_text(const Json& json) {
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

// The same in one line, without an end.
[[nodiscard]] inline std::string to_line(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

// Why something failed; empty when it did not.
[[nodiscard]] std::string reason_of(const core::Status& status);

// Rounded to significant digits.
[[nodiscard]] double rounded(double value, int decimals);

}  // namespace latebind::app
