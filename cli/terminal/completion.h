// What a shell offers when its user presses the tab key, from the tables of the command line. Pure functions.
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

// What may stand in place of the last of `words`, which the user has begun; the others stand before it, without the
// program's name. Nothing where a file is expected, or something that only the user knows.
[[nodiscard]] std::vector<Candidate> candidates(const Command& program, std::span<const std::string> words);

// The script that makes bash, zsh or fish ask `latebind complete`; "" for other words.
[[nodiscard]] std::string_view completion_script(std::string_view shell);

}  // namespace latebind::cli
