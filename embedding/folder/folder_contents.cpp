#include "embedding/folder/folder_contents.h"

#include <fmt/format.h>

#include <system_error>
#include <utility>

#include "core/platform/files/folder_entries.h"
#include "core/platform/files/folders.h"
#include "core/platform/os_error.h"
#include "core/text/quote.h"
#include "embedding/architectures/architecture.h"
#include "embedding/folder/gguf.h"
#include "embedding/folder/gguf/gguf_model.h"
#include "embedding/folder/onnx_files.h"
#include "embedding/folder/refusals.h"
#include "embedding/folder/weights_files.h"
#include "embedding/tokenizer/vocabulary_files/tokenizer_class.h"
#include "embedding/tokenizer/vocabulary_files/vocabulary_files.h"
#include "embedding/weights/safetensors.h"

namespace latebind::embedding {
namespace {

using core::Json;
using core::printable;
using core::Result;
using core::Status;
using core::StatusCode;
using std::filesystem::path;

// Returns the error for a folder that has its weights only in GGUF; ok if it has no such file.
Status refuse_gguf_in(const ModelFiles& files, const path& folder) {
  if (files.package() != nullptr) return {};
  std::optional<path> first;
  std::error_code ignored;
  platform::for_each_entry(folder, ignored, [&](const path& entry) {
    if (has_gguf_suffix(entry) && files.has(entry) && (!first || entry < *first)) first = entry;
    return true;
  });
  if (!first) return {};
  const auto stored = files.open_file(*first);
  const auto origin = stored.ok() ? read_gguf_origin(stored->bytes()) : std::nullopt;
  return origin ? refuse_gguf(*first, *origin) : Status();
}

// Finds the vocabulary files of contents.tokenizer, if it has no tokenizer.json, and the class that makes a tokenizer
// from them.
Result<FoundTokenizer> find_vocabulary(const ModelFiles& files, const FolderContents& contents, const Json& config) {
  const path& folder = contents.tokenizer;
  auto found = find_vocabulary_files([&](std::string_view name) { return files.has(folder / name); }, config,
                                     contents.tokenizer_config.read, tokenizer_of_network(config));
  if (!found.ok()) return found.status().with_context(platform::path_to_utf8(folder));
  return found;
}

void use_vocabulary(const FoundTokenizer& found, FolderContents& contents) {
  contents.tokenizer_class = found.made_by;
  contents.tokenizer_file = contents.tokenizer / found.made_by->vocabulary_file;
  for (const std::string& name : found.files)
    contents.tokenizer_companions.push_back(contents.tokenizer / name);
}

// Fails if a file of this name exists but cannot be opened.
Status check_openable(const ModelFiles& files, const path& file) {
  Status found = files.open_file(file).status();
  return found.code() == StatusCode::kNotFound ? Status() : found;
}

// Finds the adapter in the folder of the first module, and sets the folders that depend on it.
Status find_folders(const ModelFiles& files, const FolderOptions& options, FolderContents& contents) {
  const path& transformer = contents.transformer;
  contents.network = transformer;
  contents.tokenizer = transformer;
  LB_ASSIGN_OR_RETURN(contents.adapter, find_adapter(files, transformer));
  if (!contents.adapter) return {};
  if (contents.is_onnx_requested) {
    return unsupported_file(
        contents.adapter->config_file,
        fmt::format("the ONNX file '{}' with an adapter is not supported", printable(options.onnx_file)));
  }
  // As in transformers, a complete model beside the adapter is its base.
  const bool is_whole = files.has(transformer / "config.json") &&
                        has_weights_files([&](std::string_view name) { return files.has(transformer / name); });
  if (is_whole) return {};
  LB_ASSIGN_OR_RETURN(contents.network, find_base(files, *contents.adapter, options));
  // Adapters are also published without a tokenizer.
  const bool has_own = files.has(transformer / "tokenizer.json") || files.has(transformer / kTokenizerConfigFile);
  if (!has_own) contents.tokenizer = contents.network;
  return {};
}

Status report_missing(const ModelFiles& files, const FolderContents& contents, const std::string& missing) {
  // A file of that name may exist without being a regular file.
  for (const path& file : {contents.tokenizer_file, contents.network / kSafetensorsFile}) {
    if (!files.has(file)) LB_RETURN_IF_ERROR(check_openable(files, file));
  }
  std::error_code error;
  if (std::filesystem::is_empty(files.place(), error) && !error) {
    return {StatusCode::kNotFound,
            fmt::format("{} is an empty folder; {}", platform::quoted(files.place()), kWhatAModelIs)};
  }
  const auto others = list_onnx_files(files);
  const std::string hint =
      others.empty() ? std::string() : fmt::format("; {}: embedding.onnx_file names one", say_onnx_files("it", others));
  const std::string where =
      contents.adapter ? fmt::format("{}, the base of its adapter", platform::quoted(contents.network))
      : contents.transformer == files.place()
          ? "it"
          : fmt::format("'{}', the folder of its first module", printable(files.relative(contents.transformer)));
  return {StatusCode::kNotFound, fmt::format("{} is not a model folder: {} missing in {}{}; {}",
                                             platform::quoted(files.place()), missing, where, hint, kWhatAModelIs)};
}

}  // namespace

Result<FolderContents> find_contents(const ModelFiles& files, const Modules& modules, const FolderOptions& options) {
  const path& place = files.place();
  const path& transformer = modules.transformer;
  FolderContents contents{.transformer = transformer,
                          .network = transformer,
                          .tokenizer = transformer,
                          .is_onnx_requested = !options.onnx_file.empty()};
  // Without a modules.json, the other files of sentence-transformers have no effect, as in the reference.
  contents.own.file = place / "config_sentence_transformers.json";
  contents.of_transformer.file = transformer / "sentence_bert_config.json";
  if (modules.listed) {
    LB_ASSIGN_OR_RETURN(contents.own, read_config_file(files, contents.own.file));
  }
  if (!modules.is_static) LB_RETURN_IF_ERROR(find_folders(files, options, contents));
  contents.tokenizer_file = files.has(contents.tokenizer / "tokenizer.json") ? contents.tokenizer / "tokenizer.json"
                                                                             : place / "tokenizer.json";
  if (modules.words_max) contents.tokenizer_file = transformer / kWordListFile;
  if (contents.is_onnx_requested) {
    LB_ASSIGN_OR_RETURN(contents.onnx_file, find_onnx_file(files, options.onnx_file));
  }
  for (const path& folder : {transformer, place}) {
    // A file in the model's folder belongs to neither route of a router.
    if (modules.router && folder != transformer) continue;
    for (const path& candidate : {folder / "onnx" / "model.onnx", folder / "model.onnx"}) {
      if (!contents.onnx_file && files.has(candidate)) contents.onnx_file = candidate;
    }
  }
  LB_ASSIGN_OR_RETURN(contents.config, read_config_file(files, contents.network / "config.json"));
  contents.tokenizer_config.file = contents.tokenizer / kTokenizerConfigFile;
  if (!modules.is_static) {
    LB_ASSIGN_OR_RETURN(contents.tokenizer_config,
                        read_config_file(files, contents.tokenizer_config.file, kTokenizerConfigLimits));
    if (contents.config.read && !contents.adapter) {
      LB_ASSIGN_OR_RETURN(contents.tasks, find_task_adapters(files, contents.network, *contents.config.read));
    }
  }
  std::string missing;
  const auto lacks = [&missing](std::string_view what) {
    missing += (missing.empty() ? "" : ", ") + std::string(what);
  };
  if (!contents.config.read && !modules.is_static) lacks("config.json");
  if (!files.has(contents.tokenizer_file)) {
    FoundTokenizer found{.missing = platform::path_to_utf8(contents.tokenizer_file.filename())};
    if (contents.config.read && !modules.is_static) {
      LB_ASSIGN_OR_RETURN(found, find_vocabulary(files, contents, *contents.config.read));
    }
    if (found.made_by == nullptr) {
      lacks(found.missing);
    } else {
      LB_RETURN_IF_ERROR(check_openable(files, contents.tokenizer_file));
      use_vocabulary(found, contents);
    }
  }
  const auto has = [&](std::string_view name) { return files.has(contents.network / name); };
  contents.has_weights = has_weights_files(has);
  const bool has_table = !single_weights_file(has).empty();
  if (modules.is_static ? !has_table : !contents.has_weights && !contents.onnx_file) {
    LB_RETURN_IF_ERROR(refuse_gguf_in(files, contents.network));
    lacks(kFormsOfWeights);
  }
  if (!missing.empty()) return report_missing(files, contents, missing);
  if (modules.is_static && contents.is_onnx_requested) {
    return unsupported_file(
        place / "modules.json",
        fmt::format("{} with the ONNX file '{}' is not supported: it is a table of its weights",
                    modules.words_max ? "WordEmbeddings" : "StaticEmbedding", printable(options.onnx_file)));
  }
  LB_ASSIGN_OR_RETURN(contents.first_config, read_object(files, place / "config.json"));
  if (modules.listed) {
    LB_ASSIGN_OR_RETURN(contents.of_transformer, read_config_file(files, contents.of_transformer.file));
  }
  return contents;
}

Result<FolderContents> find_table_contents(const ModelFiles& files, const Modules& modules) {
  const path& folder = modules.transformer;
  FolderContents contents{.transformer = folder,
                          .network = folder,
                          .tokenizer = folder,
                          .tokenizer_file = folder / "tokenizer.json",
                          .has_weights = true};
  LB_ASSIGN_OR_RETURN(contents.config, read_config_file(files, folder / "config.json"));
  LB_ASSIGN_OR_RETURN(contents.tokenizer_config,
                      read_config_file(files, folder / kTokenizerConfigFile, kTokenizerConfigLimits));
  if (!files.has(contents.tokenizer_file)) {
    LB_ASSIGN_OR_RETURN(const FoundTokenizer found,
                        find_vocabulary(files, contents, contents.config.read.value_or(Json::object())));
    if (found.made_by == nullptr) {
      return Status(StatusCode::kNotFound,
                    fmt::format("{} is not a folder of a SparseStaticEmbedding: {} missing in it",
                                platform::quoted(folder), found.missing));
    }
    use_vocabulary(found, contents);
  }
  LB_ASSIGN_OR_RETURN(contents.own, read_config_file(files, files.place() / "config_sentence_transformers.json"));
  LB_ASSIGN_OR_RETURN(contents.first_config, read_object(files, files.place() / "config.json"));
  return contents;
}

}  // namespace latebind::embedding
