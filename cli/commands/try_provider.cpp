// latebind try-provider and compile-for-provider: commands that the program runs in a child process, so that a vendor's
// plugin that crashes, hangs or exhausts memory affects nothing else. Hidden from users and free to change.
#include <memory>
#include <string>

#include "app/backends.h"
#include "cli/terminal/byte_sink.h"
#include "cli/terminal/parser.h"
#include "core/platform/child_process.h"

namespace latebind::cli {
namespace {

struct ChildArguments {
  std::string first{};
  std::string second{};
};

// Errors are part of the line. The exit status only means that the process survived.
Exit say(const std::string& line) {
  // Begins a new line, because a vendor may have printed an incomplete one.
  const auto printed = print("\n" + line + "\n");
  return printed.ok() ? Exit::kGood : fail(printed);
}

}  // namespace

void add_try_provider(Command& program, Action& chosen) {
  auto options = std::make_shared<ChildArguments>();
  Command& trial = *program.add_subcommand("try-provider", "Registers a plugin provider and asks for its devices.");
  trial.hide();
  trial.add_option("onnxruntime", options->first)->required();
  trial.add_option("provider", options->second)->required();
  trial.callback([options, &chosen] {
    chosen = [options] {
      platform::end_with_parent();
      return say(app::try_provider(options->first, options->second));
    };
  });

  Command& compile = *program.add_subcommand("compile-for-provider", "Compiles as described by a job file.");
  compile.hide();
  compile.add_option("job", options->first)->required();
  compile.callback([options, &chosen] {
    chosen = [options] {
      platform::end_with_parent();
      return say(app::compile_for_provider(options->first));
    };
  });
}

}  // namespace latebind::cli
