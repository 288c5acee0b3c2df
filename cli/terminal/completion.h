// Completes command lines for shells, from the tables of the command line. Pure functions.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cli/terminal/command_line.h"

namespace latebind::cli {

struct Candidate {
  std::string word;
  std::string description;  // one line; may be empty
};

// Returns the possible completions of the last of `words`, given the words before it without the program's name. Empty
// if a file name or an arbitrary value is expected.
[[nodiscard]] std::vector<Candidate> candidates(const Command& program, std::span<const std::string> words);

// Returns the script that makes bash, zsh or fish call `latebind complete`, or "" for another shell.
[[nodiscard]] std::string_view completion_script(std::string_view shell);

}  // namespace latebind::cli
