// latebind probe-provider and compile-for-provider: what this program does as a child of itself, so that a vendor's
// plugin can crash, hang or eat memory alone. Not for people: hidden from the help, and free to change.
#include <memory>
#include <string>

#include "app/backends.h"
#include "cli/terminal/byte_sink.h"
#include "cli/terminal/parser.h"
#include "core/platform/child_process.h"

namespace latebind::cli {
namespace {

struct ProbeProviderArguments {
  std::string first{};
  std::string second{};
};

// What went wrong is in the line: the status of the process says no more than that it lived to tell.
Exit say(const std::string& line) {
  // Vendors may have left a line half printed.
  const auto printed = print("\n" + line + "\n");
  return printed.ok() ? Exit::kGood : fail(printed);
}

}  // namespace

void add_probe_provider(CLI::App& program, Action& chosen) {
  auto options = std::make_shared<ProbeProviderArguments>();
  CLI::App& probe = *program.add_subcommand("probe-provider", "Registers a plugin provider and asks for its devices.");
  probe.group("");
  probe.add_option("onnxruntime", options->first)->required();
  probe.add_option("provider", options->second)->required();
  probe.callback([options, &chosen] {
    chosen = [options] {
      platform::end_with_parent();
      return say(app::probe_provider(options->first, options->second));
    };
  });

  CLI::App& compile = *program.add_subcommand("compile-for-provider", "Compiles as the job in a file says.");
  compile.group("");
  compile.add_option("job", options->first)->required();
  compile.callback([options, &chosen] {
    chosen = [options] {
      platform::end_with_parent();
      return say(app::compile_for_provider(options->first));
    };
  });
}

}  // namespace latebind::cli
