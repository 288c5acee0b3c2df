// latebind pull: downloads a model from the hub into the hub's cache.
#include "app/jobs/pull.h"

#include <memory>

#include "cli/terminal/byte_sink.h"
#include "cli/terminal/client.h"
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
  Command& app = *program.add_subcommand("pull", "Loads a model from the hub, by its name.");
  add_text(app, kModelNames, options->model, "ORG/NAME[@REVISION]",
           "The model, and which branch, tag or commit of it (default: main). NAME alone is one of "
           "sentence-transformers/.")
      ->required();
  options->flags.add_to(app, {}, {"embedding.onnx_file"});
  app.add_flag("--force", options->force, "Loads again what is there, damaged or not.");
  app.add_flag("--json", options->json,
               "Prints {model, revision, commit, folder, from_cache, loaded_bytes, files: [{name, bytes, loaded}]} "
               "instead of the folder alone.");
  app.add_flag("-q,--quiet", options->quiet, "No progress; what has to be known is still told.");
  app.footer(
      "Loads only the files that are needed, into the cache that the hub's other tools use, and\n"
      "prints the model's folder. What is there is compared with the hub's sizes and digests, and\n"
      "loaded again where it differs; what broke off is gone on with. ORG/NAME as the MODEL of another\n"
      "command loads a model as well, and takes what is there as it is.\n\n"
      "Environment:\n"
      "  HF_HUB_CACHE, HF_HOME   where the cache is (default ~/.cache/huggingface/hub)\n"
      "  HF_TOKEN, HF_TOKEN_PATH a token, for models that want one\n"
      "  HF_ENDPOINT             another hub, or a mirror of it\n"
      "  HF_HUB_OFFLINE=1        only what is in the cache\n"
      "  https_proxy, no_proxy   the way out; SSL_CERT_FILE: the authorities to trust\n\n"
      "Examples:\n"
      "  latebind pull sentence-transformers/all-MiniLM-L6-v2\n"
      "  latebind embed \"$(latebind pull ORG/NAME@v1.0)\" notes.txt");
  app.callback([options, &chosen] { chosen = [options] { return pull(*options); }; });
}

}  // namespace latebind::cli
