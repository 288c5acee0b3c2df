// latebind unpack: unpacks a bundle into a folder, for tools that do not read ZIPs.
#include "app/jobs/unpack.h"

#include <fmt/format.h>

#include <memory>
#include <string>
#include <string_view>

#include "cli/terminal/messages.h"
#include "cli/terminal/parser.h"

namespace latebind::cli {
namespace {

struct UnpackArguments {
  std::string place;
  std::string output;
};

Exit unpack(const UnpackArguments& options) {
  app::Client client;
  client.name_of = [](std::string_view key) { return std::string(key == "output" ? "-o" : "PATH"); };
  const auto placed = app::unpack(options.place, options.output, client);
  if (placed.options_are_wrong) return misuse("unpack", placed.failure.message());
  if (!placed.failure.ok()) return fail(placed.failure);
  note(fmt::format("wrote {}", options.output));
  return Exit::kGood;
}

}  // namespace

void add_unpack(Command& program, Action& chosen) {
  auto options = std::make_shared<UnpackArguments>();
  Command& app = *program.add_subcommand("unpack", "Writes a bundle as a folder.");
  app.add_option("PATH", options->place, "A bundle: a file, or a folder with manifest.json.")->required();
  add_text(app, "-o,--output", options->output, "FOLDER",
           "Folder to create; it must be absent or empty. It appears only when it is complete.")
      ->required();
  app.footer(
      "ONNX Runtime opens a bundle's folder as a model package. Every file is checked while it is\n"
      "unpacked; if one is damaged, no folder is created.\n"
      "\n"
      "Example:\n"
      "  latebind unpack minilm.lbundle -o minilm");
  app.callback([options, &chosen] { chosen = [options] { return unpack(*options); }; });
}

}  // namespace latebind::cli
