// What the program says of its commands: -h, --help. Pure functions of the tables (command_line.h).
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "cli/terminal/command_line.h"

namespace latebind::cli {

// -h: at most 24 lines, one for each of the options that are used most.
[[nodiscard]] std::string short_help(const Command& command, std::size_t columns);

// --help: everything, grouped by headings, in lines of at most `columns` characters where words allow it.
[[nodiscard]] std::string full_help(const Command& command, std::size_t columns);

// The options in the order of help: positional arguments, the command's own options, then those that docs/ describe.
[[nodiscard]] std::vector<const Option*> options_in_order(const Command& command);

// "latebind search MODEL FILE... --query TEXT [OPTIONS]"
[[nodiscard]] std::string usage(const Command& command);

// "-o, --output FILE"
[[nodiscard]] std::string option_title(const Option& option);

// Up to the first full stop that ends a sentence, without it; and what stands in brackets at the end, its default.
[[nodiscard]] std::string first_sentence(std::string_view help);

}  // namespace latebind::cli
