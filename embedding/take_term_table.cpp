#include "embedding/take_term_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <memory>
#include <string>
#include <utility>

#include "core/json_text.h"
#include "core/platform/files/folders.h"
#include "core/platform/os_error.h"
#include "core/text/quote.h"
#include "embedding/folder_tokenizer.h"
#include "embedding/refusals.h"
#include "embedding/safetensors.h"
#include "embedding/take_kind.h"
#include "embedding/take_lengths.h"
#include "embedding/take_prompts.h"
#include "embedding/tokenizer/vocabulary_files/tokenizer_class.h"
#include "embedding/weights_files.h"

namespace latebind::embedding {

using core::printable;
using core::read_text;
using core::Result;
using core::Status;
using core::StatusCode;
using nlohmann::json;
using std::filesystem::path;

Result<ModelFolder> read_term_table(ModelFiles given, const Modules& modules) {
  ModelFolder model;
  model.files = std::move(given);
  const ModelFiles& files = model.files;
  const path& folder = modules.transformer;
  const path config_file = folder / "config.json";
  const path tokenizer_config_file = folder / kTokenizerConfigFile;
  LB_ASSIGN_OR_RETURN(const auto config, read_object(files, config_file));
  const json described = config.value_or(json::object());
  const std::string config_name = platform::path_to_utf8(config_file);
  LB_ASSIGN_OR_RETURN(const std::string weights_path, read_text(described, "path", "", config_name));
  if (!weights_path.empty()) {
    return unsupported_file(config_file, fmt::format("'path' is '{}': weights are read from {} alone",
                                                     printable(weights_path), kSafetensorsFile));
  }
  LB_ASSIGN_OR_RETURN(const auto tokenizer_config, read_object(files, tokenizer_config_file, kTokenizerConfigLimits));
  FoundTokenizer tokenizer;
  model.tokenizer_file = folder / "tokenizer.json";
  if (!files.has(model.tokenizer_file)) {
    LB_ASSIGN_OR_RETURN(tokenizer, find_tokenizer(files, folder, described, tokenizer_config));
    model.tokenizer_class = tokenizer.made_by;
    if (model.tokenizer_class == nullptr) {
      return Status(StatusCode::kNotFound, fmt::format("{} is no folder of a SparseStaticEmbedding: {} missing in it",
                                                       platform::quoted(folder), tokenizer.missing));
    }
    model.tokenizer_file = folder / model.tokenizer_class->vocabulary_file;
  }
  if (tokenizer_config) {
    const Status status = refuse_tokenizer_options(*tokenizer_config);
    if (!status.ok()) return status.with_context(platform::path_to_utf8(folder));
  }
  ConfigFile own{.file = files.place() / "config_sentence_transformers.json"};
  LB_ASSIGN_OR_RETURN(own.read, read_object(files, own.file));
  LB_ASSIGN_OR_RETURN(const auto first, read_object(files, files.place() / "config.json"));
  read_extras(own, first, model);
  LB_RETURN_IF_ERROR(read_defaults(modules, own, /*takes_weights=*/true, model));
  LB_RETURN_IF_ERROR(take_kind(modules, own, config, config_file, tokenizer_config, model));

  model.term_table_file = folder / kSafetensorsFile;
  LB_ASSIGN_OR_RETURN(StoredFile stored, files.open_file(*model.term_table_file));
  LB_ASSIGN_OR_RETURN(const Safetensors weights, Safetensors::from_part(std::move(stored.part), stored.name));
  LB_ASSIGN_OR_RETURN(TermTable table, TermTable::read(weights));
  model.is_static = true;
  model.term_table = std::make_shared<const TermTable>(std::move(table));
  model.small_files = {model.tokenizer_file, config_file, files.place() / "modules.json", own.file,
                       tokenizer_config_file};
  for (const std::string& name : tokenizer.files)
    model.small_files.push_back(folder / name);
  if (model.tokenizer_class == nullptr) {
    for (const std::string_view name : {kSpecialTokensFile, kAddedTokensFile})
      model.small_files.push_back(folder / name);
  }
  std::ranges::copy(modules.files, std::back_inserter(model.small_files));
  std::erase_if(model.small_files, [&](const path& file) { return !files.has(file); });
  LB_ASSIGN_OR_RETURN(model.max_tokens, read_max_tokens({}, folder, tokenizer_config, kTokensMax));
  return model;
}

}  // namespace latebind::embedding
