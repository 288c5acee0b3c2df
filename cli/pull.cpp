// latebind pull: a model from the hub into the hub's cache.
#include <fmt/format.h>

#include <memory>

#include "cli/byte_sink.h"
#include "cli/json_text.h"
#include "cli/model_argument.h"
#include "cli/parser.h"
#include "core/platform/folders.h"

namespace latebind::cli {
namespace {

namespace hub = embedding::hub;

struct PullArguments {
  std::string model;
  bool json = false;
  bool quiet = false;
};

std::string report(const hub::ModelName& name, const hub::Snapshot& snapshot) {
  Json json;
  json["model"] = name.id;
  json["revision"] = name.revision;
  json["commit"] = snapshot.commit;
  json["folder"] = platform::path_to_utf8(snapshot.folder);
  json["from_cache"] = snapshot.from_cache;
  json["loaded_bytes"] = snapshot.loaded_bytes;
  json["files"] = Json::array();
  for (const hub::SnapshotFile& file : snapshot.files) {
    Json& entry = json["files"].emplace_back();
    entry["name"] = file.name;
    entry["bytes"] = file.bytes;
    entry["loaded"] = file.loaded;
  }
  return to_text(json);
}

Exit pull(const PullArguments& options) {
  const auto name = hub::ModelName::parse(options.model);
  if (!name.ok()) return misuse("pull", name.status().message());
  const auto snapshot = load_by_name(*name, options.quiet);
  if (!snapshot.ok()) return fail(snapshot.status());
  const auto printed = print(options.json ? report(*name, *snapshot) : platform::path_to_utf8(snapshot->folder) + "\n");
  return printed.ok() ? Exit::kGood : fail(printed);
}

}  // namespace

void add_pull(CLI::App& program, Action& chosen) {
  auto options = std::make_shared<PullArguments>();
  CLI::App& app = *program.add_subcommand("pull", "Loads a model from the hub, by its name.");
  add_text(app, "MODEL", options->model, "ORG/NAME[@REVISION]",
           "The model, and which branch, tag or commit of it (default: main).")
      ->required();
  app.add_flag("--json", options->json,
               "Prints {model, revision, commit, folder, from_cache, loaded_bytes, files: [{name, bytes, loaded}]} "
               "instead of the folder alone.");
  app.add_flag("-q,--quiet", options->quiet, "No progress; what has to be known is still told.");
  app.footer(
      "Loads only the files that are needed, into the cache that the hub's other tools use, and\n"
      "prints the model's folder. What is there is not loaded again, and what broke off is gone on\n"
      "with. `--model ORG/NAME` of the other commands does the same.\n\n"
      "Environment:\n"
      "  HF_HUB_CACHE, HF_HOME   where the cache is (default ~/.cache/huggingface/hub)\n"
      "  HF_TOKEN, HF_TOKEN_PATH a token, for models that want one\n"
      "  HF_ENDPOINT             another hub, or a mirror of it\n"
      "  HF_HUB_OFFLINE=1        only what is in the cache\n"
      "  https_proxy, no_proxy   the way out; SSL_CERT_FILE: the authorities to trust\n\n"
      "Examples:\n"
      "  latebind pull sentence-transformers/all-MiniLM-L6-v2\n"
      "  latebind embed --model \"$(latebind pull ORG/NAME@v1.0)\" notes.txt");
  app.callback([options, &chosen] { chosen = [options] { return pull(*options); }; });
}

}  // namespace latebind::cli
