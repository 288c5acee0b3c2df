// Formats a JSON object for people. A pure function; any thread may call it.
#pragma once

#include <string>

#include "core/json/value.h"

namespace latebind::cli {

// Returns one line for each member: its name, with spaces instead of '_', and its value. An object's members stand
// indented below its name; at the top, empty lines surround them. Members without content are left out. Control
// characters in values are escaped for the terminal.
[[nodiscard]] std::string outline(const core::Json& object);

}  // namespace latebind::cli
