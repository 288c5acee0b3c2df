// latebind warm: compiles everything that the configuration needs, so that later starts find it in the cache.
#include "app/jobs/warm.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <string>

#include "cli/terminal/byte_sink.h"
#include "cli/terminal/client.h"
#include "cli/terminal/embedder_options.h"
#include "cli/terminal/parser.h"
#include "core/text/one_line.h"

namespace latebind::cli {
namespace {

struct WarmArguments {
  EmbedderOptions embedder{};
  bool json = false;
};

std::string for_people(const app::WarmReport& report) {
  std::string text;
  for (const auto& outcome : report.devices) {
    text += outcome.status.ok()
                ? fmt::format("ready in {:.1f} s: {}{}{}\n", outcome.seconds, core::one_line(describe(outcome.active)),
                              outcome.verification.empty() ? "" : "; ", core::one_line(outcome.verification))
                : fmt::format("not ready: {}: {}\n", outcome.device, core::one_line(outcome.status.brief()));
  }
  return text;
}

Exit warm(const WarmArguments& options) {
  // Loads as `latebind embed` does, because the hint affects the compilation.
  const auto runtime = make_runtime(options.embedder.flags, core::PerformanceHint::kThroughput);
  if (!runtime.ok()) return misuse("warm", runtime.status().message());
  if (const auto status = app::check_warm(runtime->settings); !status.ok()) return misuse("warm", status.message());
  const TerminalClient terminal;
  app::Client client = terminal.client();
  client.log = "`latebind -v warm`";
  const auto report = app::warm(options.embedder.model, *runtime, client);
  if (!report.ok()) return fail(report.status());
  const auto printed = print(options.json ? app::to_text(app::to_json(*report)) : for_people(*report));
  if (!printed.ok()) return fail(printed);
  const bool any = std::ranges::any_of(report->devices, [](const auto& outcome) { return outcome.status.ok(); });
  return any ? Exit::kGood : fail(report->devices.front().status);
}

}  // namespace

void add_warm(Command& program, Action& chosen) {
  auto options = std::make_shared<WarmArguments>();
  Command& app = *program.add_subcommand(
      "warm", "Compiles a model for every device of the placement and keeps the results in the cache.");
  options->embedder.add_to(app);
  app.add_flag("--json", options->json, "Prints {devices: [{device, ready, seconds, reason, verification}]}.");
  app.footer(
      "Run it after an installation: later starts find everything in the cache of compiled models,\n"
      "including every static length. What is compiled depends on the settings: give those that you will\n"
      "use later. The exit status is 0 if at least one device is ready; with --strict, the first one must be.");
  app.callback([options, &chosen] { chosen = [options] { return warm(*options); }; });
}

}  // namespace latebind::cli
