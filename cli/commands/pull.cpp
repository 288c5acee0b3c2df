// latebind pull: downloads a model from the hub into the hub's cache.
#include "app/jobs/pull.h"

#include <memory>

#include "cli/terminal/byte_sink.h"
#include "cli/terminal/client.h"
#include "cli/terminal/model_argument.h"
#include "cli/terminal/parser.h"
#include "cli/terminal/setting_flags.h"
#include "core/platform/files/folders.h"

namespace latebind::cli {
namespace {

struct PullArguments {
  std::string model;
  SettingFlags flags{};
  bool force = false;
  bool json = false;
  bool quiet = false;
};

Exit pull(const PullArguments& options) {
  const auto name = embedding::hub::ModelName::parse(options.model);
  if (!name.ok()) return misuse("pull", name.status().message());
  const auto settings = options.flags.effective();
  if (!settings.ok()) return misuse("pull", settings.status().message());
  const TerminalClient terminal(options.quiet);
  const auto report = app::pull(*name, options.force, settings->values().onnx_file, terminal.client());
  if (!report.ok()) return fail(report.status());
  const auto folder = platform::path_to_utf8(report->snapshot.folder);
  const auto printed = print(options.json ? app::to_text(app::to_json(*report)) : folder + "\n");
  return printed.ok() ? Exit::kGood : fail(printed);
}

}  // namespace

void add_pull(Command& program, Action& chosen) {
  auto options = std::make_shared<PullArguments>();
  Command& app = *program.add_subcommand("pull", "Downloads a model from the hub.");
  take_model_from_variable(
      add_text(
          app, kModelNames, options->model, "ORG/NAME[@REVISION]",
          "The model, and its branch, tag or commit (default: main). NAME alone means sentence-transformers/NAME."))
      ->required();
  options->flags.add_to(app, {}, {"embedding.onnx_file"});
  app.add_flag("--force", options->force, "Downloads all files again, even if they are intact.");
  app.add_flag("--json", options->json,
               "Prints {model, revision, commit, folder, from_cache, loaded_bytes, files: [{name, bytes, loaded}]} "
               "instead of the folder alone.");
  app.add_flag("-q,--quiet", options->quiet, "Hides progress; warnings and errors are still reported.");
  app.footer(
      "The command downloads only the files that are needed, into the cache that the hub's other tools\n"
      "use, and prints the model's folder. It compares files in the cache with the hub's sizes and\n"
      "digests, downloads those that differ, and continues interrupted downloads. Other commands also\n"
      "download a MODEL that is given as ORG/NAME, but use files in the cache without comparing them.\n"
      "\n"
      "Environment:\n"
      "  HF_HUB_CACHE, HF_HOME   folder of the cache (default ~/.cache/huggingface/hub)\n"
      "  HF_TOKEN, HF_TOKEN_PATH a token, for models that require one\n"
      "  HF_ENDPOINT             another hub, or a mirror of it\n"
      "  HF_HUB_OFFLINE=1        use only the cache\n"
      "  https_proxy, no_proxy   the proxy; SSL_CERT_FILE: the authorities to trust\n"
      "\n"
      "Examples:\n"
      "  latebind pull sentence-transformers/all-MiniLM-L6-v2\n"
      "  latebind embed \"$(latebind pull ORG/NAME@v1.0)\" notes.txt");
  app.callback([options, &chosen] { chosen = [options] { return pull(*options); }; });
}

}  // namespace latebind::cli
