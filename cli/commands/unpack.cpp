// latebind unpack: a bundle as a folder, for tools that read no ZIP.
#include <fmt/format.h>

#include <memory>
#include <string>

#include "app/apart.h"
#include "cli/terminal/parser.h"
#include "core/bundle/package.h"
#include "core/bundle/package_writer.h"
#include "core/platform/folders.h"
#include "core/platform/output_folder.h"

namespace latebind::cli {
namespace {

struct UnpackArguments {
  std::string place;
  std::string output;
};

Exit unpack(const UnpackArguments& options) {
  if (options.output == "-") return misuse("unpack", "-o -: a bundle is unpacked into a folder: give its name");
  const auto place = platform::OutputFolder::place_of(platform::path_from_utf8(options.output));
  if (place.status().code() == core::StatusCode::kInvalidArgument) return misuse("unpack", place.status().message());
  const auto apart = app::check_apart({"-o", options.output}, {"PATH", options.place});
  if (!apart.ok()) return misuse("unpack", apart.message());
  const auto package = core::Package::open(platform::path_from_utf8(options.place));
  if (!package.ok()) return fail(package.status());
  // Also what a ZIP's own sums do not tell: each file is the one that the manifest means.
  const auto report = package->verify();
  if (!report.ok()) return fail(report.status());
  if (!report->ok()) return fail(report->damages.front());
  const auto written = core::unpack_package(package->files(), platform::path_from_utf8(options.output));
  if (!written.ok()) return fail(written);
  note(fmt::format("wrote {}", options.output));
  return Exit::kGood;
}

}  // namespace

void add_unpack(CLI::App& program, Action& chosen) {
  auto options = std::make_shared<UnpackArguments>();
  CLI::App& app = *program.add_subcommand("unpack", "Writes a bundle as a folder.");
  app.add_option("PATH", options->place, "A bundle: a file, or a folder with manifest.json.")->required()->expected(1);
  add_text(app, "-o,--output", options->output, "FOLDER",
           "Folder to make, absent or empty; it appears only when it is complete.")
      ->required();
  app.footer(
      "ONNX Runtime opens a bundle's folder as a model package. Every file is checked on its way;\n"
      "when one is damaged, no folder is made.\n\n"
      "Example:\n"
      "  latebind unpack minilm.lbundle -o minilm");
  app.callback([options, &chosen] { chosen = [options] { return unpack(*options); }; });
}

}  // namespace latebind::cli
