// The commands of the program, one file each. add_…() adds a command and its options to the parser. If the command line
// selects the command, parsing sets `chosen` to the function to run. Parsing itself runs nothing.
#pragma once

#include <array>
#include <functional>

#include "cli/terminal/messages.h"

namespace latebind::cli {

class Command;

// Parses the command line, runs the selected command and returns the exit code. Catches all exceptions.
[[nodiscard]] int run_program(int argc, char** argv);

using Action = std::function<Exit()>;

void add_devices(Command& program, Action& chosen);
void add_backends(Command& program, Action& chosen);
void add_doctor(Command& program, Action& chosen);
void add_embed(Command& program, Action& chosen);
void add_search(Command& program, Action& chosen);
void add_rerank(Command& program, Action& chosen);
void add_run(Command& program, Action& chosen);
void add_export(Command& program, Action& chosen);
void add_tokens(Command& program, Action& chosen);
void add_models(Command& program, Action& chosen);
void add_pull(Command& program, Action& chosen);
void add_bench(Command& program, Action& chosen);
void add_serve(Command& program, Action& chosen);
void add_warm(Command& program, Action& chosen);
void add_config(Command& program, Action& chosen);
void add_cache(Command& program, Action& chosen);
void add_compile(Command& program, Action& chosen);
void add_inspect(Command& program, Action& chosen);
void add_completion(Command& program, Action& chosen);
void add_unpack(Command& program, Action& chosen);
void add_verify(Command& program, Action& chosen);
// Hidden: the commands that the program runs in a child process.
void add_child_commands(Command& program, Action& chosen);

// All commands, in the order of the help.
inline constexpr std::array kCommands{
    add_devices, add_backends, add_doctor,  add_serve,  add_embed,      add_search,        add_rerank, add_run,
    add_export,  add_tokens,   add_models,  add_pull,   add_bench,      add_warm,          add_config, add_verify,
    add_cache,   add_compile,  add_inspect, add_unpack, add_completion, add_child_commands};

}  // namespace latebind::cli
