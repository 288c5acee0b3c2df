// A hidden command of the program `latebind` that a backend runs in a child process, so that a vendor's library that
// crashes, hangs or exhausts memory affects nothing else.
//
// A backend lists its commands as constant data; the program adds them to its command line
// (cli/commands/child_command.cpp).
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace latebind::core {

struct ChildCommand {
  std::string_view name;                        // "try-provider"; unique among all commands
  std::string_view help;                        // one sentence
  std::span<const std::string_view> arguments;  // their names; all are required
  // Runs the command with one text for each argument and returns the line for the parent, errors included, to be
  // printed on standard output.
  std::string (*run)(std::span<const std::string> arguments);
};

}  // namespace latebind::core
