// latebind, the program: see parser.h for what happens.
#include "cli/commands/command.h"

int main(int argc, char** argv) {
  return latebind::cli::run_program(argc, argv);
}
