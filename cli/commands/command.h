// The commands of the program, one file each. add_…() adds a command and its options to the parser; when the command
// line chooses it, parsing sets `chosen` to the function to run. Nothing runs during parsing.
#pragma once

#include <array>
#include <functional>

#include "cli/terminal/messages.h"

namespace CLI {
class App;
}

namespace latebind::cli {

// Parses the line, runs what it chose and returns the exit code. Catches everything.
[[nodiscard]] int run_program(int argc, char** argv);

using Action = std::function<Exit()>;

void add_devices(CLI::App& program, Action& chosen);
void add_doctor(CLI::App& program, Action& chosen);
void add_embed(CLI::App& program, Action& chosen);
void add_search(CLI::App& program, Action& chosen);
void add_rerank(CLI::App& program, Action& chosen);
void add_run(CLI::App& program, Action& chosen);
void add_export(CLI::App& program, Action& chosen);
void add_tokens(CLI::App& program, Action& chosen);
void add_models(CLI::App& program, Action& chosen);
void add_pull(CLI::App& program, Action& chosen);
void add_bench(CLI::App& program, Action& chosen);
void add_serve(CLI::App& program, Action& chosen);
void add_warm(CLI::App& program, Action& chosen);
void add_config(CLI::App& program, Action& chosen);
void add_cache(CLI::App& program, Action& chosen);
void add_compile(CLI::App& program, Action& chosen);
void add_inspect(CLI::App& program, Action& chosen);
void add_unpack(CLI::App& program, Action& chosen);
void add_verify(CLI::App& program, Action& chosen);
// Hidden: what the program does as its own child process.
void add_try_provider(CLI::App& program, Action& chosen);

// All of them, in the order of the help.
inline constexpr std::array kCommands{add_devices, add_doctor,  add_serve,   add_embed,  add_search,
                                      add_rerank,  add_run,     add_export,  add_tokens, add_models,
                                      add_pull,    add_bench,   add_warm,    add_config, add_verify,
                                      add_cache,   add_compile, add_inspect, add_unpack, add_try_provider};

}  // namespace latebind::cli
