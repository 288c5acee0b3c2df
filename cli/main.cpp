// The program latebind. See cli/terminal/parser.cpp.
#include "cli/commands/command.h"
#include "core/platform/thread.h"

int main(int argc, char** argv) {
  return latebind::platform::call_with_room([&] { return latebind::cli::run_program(argc, argv); });
}
