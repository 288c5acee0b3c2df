// The commands that backends run in child processes (core/backend/child_command.h). Hidden from users and free to
// change.
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "app/backends.h"
#include "cli/terminal/byte_sink.h"
#include "cli/terminal/parser.h"
#include "core/platform/child_process.h"

namespace latebind::cli {
namespace {

// Errors are part of the line. The exit status only means that the process survived.
Exit say(const std::string& line) {
  // Begins a new line, because a vendor may have printed an incomplete one.
  const auto printed = print("\n" + line + "\n");
  return printed.ok() ? Exit::kGood : fail(printed);
}

}  // namespace

void add_child_commands(Command& program, Action& chosen) {
  for (const core::ChildCommand& command : app::child_commands()) {
    auto arguments = std::make_shared<std::vector<std::string>>(command.arguments.size());
    Command& child = *program.add_subcommand(std::string(command.name), std::string(command.help));
    child.hide();
    for (std::size_t i = 0; i < arguments->size(); ++i)
      child.add_option(std::string(command.arguments[i]), (*arguments)[i])->required();
    child.callback([arguments, run = command.run, &chosen] {
      chosen = [arguments, run] {
        platform::end_with_parent();
        return say(run(*arguments));
      };
    });
  }
}

}  // namespace latebind::cli
