// Formats help (-h, --help) from the tables of the command line. Pure functions.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "cli/terminal/command_line.h"

namespace latebind::cli {

// -h: at most 24 lines, with one line for each of the most common options.
[[nodiscard]] std::string short_help(const Command& command, std::size_t columns);

// --help: everything, grouped under headings, in lines of at most `columns` characters unless a word is longer.
[[nodiscard]] std::string full_help(const Command& command, std::size_t columns);

// Returns the options in the order of help: positional ones, the command's specific ones, then those described in
// docs/.
[[nodiscard]] std::vector<const Option*> options_in_order(const Command& command);

// "latebind search MODEL FILE... --query TEXT [OPTIONS]"
[[nodiscard]] std::string usage(const Command& command);

// "-o, --output FILE"
[[nodiscard]] std::string option_title(const Option& option);

// Returns the help up to the full stop that ends the first sentence, without it, and the default in brackets at its
// end.
[[nodiscard]] std::string first_sentence(std::string_view help);

}  // namespace latebind::cli
