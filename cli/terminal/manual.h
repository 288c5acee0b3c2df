// Writes the manual pages from the tables of the command line. Pure functions.
#pragma once

#include <string>

#include "cli/terminal/command_line.h"

namespace latebind::cli {

// "latebind-bench-embed"
[[nodiscard]] std::string manual_name(const Command& command);

// Returns the page in roff, with the macros of man(7).
[[nodiscard]] std::string manual_page(const Command& command);

}  // namespace latebind::cli
