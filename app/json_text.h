// Reports as JSON, for programs.
#pragma once

#include <string>

#include "core/json.h"
#include "core/status.h"

namespace latebind::app {

// Keys keep the order in which they are set, which is also the order of the documentation.
using Json = nlohmann::ordered_json;

// Indented text with a line end. A vendor's text that is no UTF-8 gets U+FFFD where it is not.
[[nodiscard]] inline std::string to_text(const Json& json) {
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

// Why something failed; empty when it did not.
[[nodiscard]] std::string reason_of(const core::Status& status);

// Rounded, so that a reader is not given digits that mean nothing.
[[nodiscard]] double rounded(double value, int decimals);

}  // namespace latebind::app
