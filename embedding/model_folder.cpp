#include "embedding/model_folder.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <system_error>
#include <utility>
#include <vector>

#include "core/json_text.h"
#include "core/platform/files/folder_entries.h"
#include "core/platform/files/folders.h"
#include "core/platform/os_error.h"
#include "core/text/quote.h"
#include "embedding/default_pooling.h"
#include "embedding/folder_tokenizer.h"
#include "embedding/gguf.h"
#include "embedding/modules.h"
#include "embedding/onnx_files.h"
#include "embedding/refusals.h"
#include "embedding/safetensors.h"
#include "embedding/take_kind.h"
#include "embedding/take_lengths.h"
#include "embedding/take_multi_vectors.h"
#include "embedding/take_network.h"
#include "embedding/take_prompts.h"
#include "embedding/take_term_table.h"
#include "embedding/tokenizer/tokenizer.h"
#include "embedding/tokenizer/vocabulary_files/tokenizer_class.h"
#include "embedding/tokenizer/vocabulary_files/vocabulary_files.h"
#include "embedding/transformer_keys.h"
#include "embedding/weights_files.h"

namespace latebind::embedding {
namespace {

using core::printable;
using core::read_size;
using core::read_text;
using core::Result;
using core::Status;
using core::StatusCode;
using nlohmann::json;
using std::filesystem::path;

// The refusal of a folder whose weights are in GGUF alone; no error where there is no such file.
Status refuse_gguf_in(const ModelFiles& files, const path& folder) {
  if (files.package() != nullptr) return {};
  std::optional<path> first;
  std::error_code ignored;
  platform::for_each_entry(folder, ignored, [&](const path& entry) {
    if (entry.extension() == ".gguf" && files.has(entry) && (!first || entry < *first)) first = entry;
    return true;
  });
  if (!first) return {};
  const auto stored = files.open_file(*first);
  const auto origin = stored.ok() ? read_gguf_origin(stored->bytes()) : std::nullopt;
  return origin ? refuse_gguf(*first, *origin) : Status();
}

Result<Modules> modules_of(const ModelFiles& files, TextRole role) {
  ConfigFile own{.file = files.place() / "config_sentence_transformers.json"};
  LB_ASSIGN_OR_RETURN(own.read, read_object(files, own.file));
  LB_ASSIGN_OR_RETURN(const auto config, read_object(files, files.place() / "config.json"));
  return read_modules(files, own, config, role);
}

Result<ModelFolder> read_way(ModelFiles given, const Modules& modules, const FolderOptions& options);

// The way for queries, beside that for documents, which `model` has.
Status take_router(const Modules& documents, const FolderOptions& options, ModelFolder& model) {
  const ModelFiles& files = model.files;
  LB_ASSIGN_OR_RETURN(const Modules modules, modules_of(files, TextRole::kQuery));
  const path& file = documents.files.front();
  // The ONNX file that is asked for is that of the documents' network.
  if (!options.onnx_file.empty() && !modules.is_term_table) {
    return unsupported_file(file, fmt::format("the ONNX file '{}' with a router to two networks is not supported",
                                              printable(options.onnx_file)));
  }
  LB_ASSIGN_OR_RETURN(ModelFolder queries, read_way(files, modules, {}));
  if (queries.kind != model.kind) return unsupported_file(file, "its two ways give different kinds of vectors");
  if (queries.term_table != nullptr && model.network != nullptr &&
      queries.term_table->size() > model.network->vocabulary_size()) {
    return invalid_file(*queries.term_table_file,
                        fmt::format("'weight' has {} numbers, but the documents' vocabulary has {} entries",
                                    queries.term_table->size(), model.network->vocabulary_size()));
  }
  model.queries = std::make_shared<const ModelFolder>(std::move(queries));
  model.by_default = documents.router->by_default;
  return {};
}

}  // namespace

Result<ModelFolder> ModelFolder::open(const path& given, const FolderOptions& options) {
  LB_ASSIGN_OR_RETURN(auto files, ModelFiles::open(given));
  return of(std::move(files), options);
}

Result<ModelFolder> ModelFolder::of(ModelFiles given, const FolderOptions& options) {
  LB_ASSIGN_OR_RETURN(const Modules modules, modules_of(given, TextRole::kDocument));
  LB_ASSIGN_OR_RETURN(ModelFolder model, read_way(std::move(given), modules, options));
  if (modules.router) LB_RETURN_IF_ERROR(take_router(modules, options, model));
  return model;
}

namespace {

// What the modules say, of which there is one way.
Result<ModelFolder> read_way(ModelFiles given, const Modules& modules, const FolderOptions& options) {
  if (modules.is_term_table) {
    if (options.onnx_file.empty()) return read_term_table(std::move(given), modules);
    return unsupported_file(given.place() / "modules.json",
                            fmt::format("SparseStaticEmbedding with the ONNX file '{}' is not supported: it is a table "
                                        "of its weights",
                                        printable(options.onnx_file)));
  }
  ModelFolder model;
  model.files = std::move(given);
  model.is_static = modules.is_static;
  const ModelFiles& files = model.files;
  const path& place = files.place();
  ConfigFile own{.file = place / "config_sentence_transformers.json"};
  // Without a list of modules, as in the reference, its companions have no effect.
  if (modules.listed) {
    LB_ASSIGN_OR_RETURN(own.read, read_object(files, own.file));
  }
  const path& transformer = modules.transformer;
  model.normalize = modules.normalize;
  model.is_listed = modules.listed;

  model.tokenizer_file =
      files.has(transformer / "tokenizer.json") ? transformer / "tokenizer.json" : place / "tokenizer.json";
  const bool is_asked_for = !options.onnx_file.empty();
  if (is_asked_for) {
    LB_ASSIGN_OR_RETURN(model.onnx_file, find_onnx_file(files, options.onnx_file));
  }
  for (const path& folder : {transformer, place}) {
    // One in the model's own folder is not of either way of a router alone.
    if (modules.router && folder != transformer) continue;
    for (const path& candidate : {folder / "onnx" / "model.onnx", folder / "model.onnx"}) {
      if (!model.onnx_file && files.has(candidate)) model.onnx_file = candidate;
    }
  }

  const path config_file = transformer / "config.json";
  LB_ASSIGN_OR_RETURN(const auto config, read_object(files, config_file));
  std::optional<json> tokenizer_config;
  if (!modules.is_static) {
    LB_ASSIGN_OR_RETURN(tokenizer_config,
                        read_object(files, transformer / kTokenizerConfigFile, kTokenizerConfigLimits));
  }
  if (const path adapters = transformer / kAdapterConfigFile; !modules.is_static && files.has(adapters)) {
    return refuse_adapters(adapters);
  }
  std::string missing;
  const auto lacks = [&missing](std::string_view what) {
    missing += (missing.empty() ? "" : ", ") + std::string(what);
  };
  if (!config && !modules.is_static) lacks("config.json");
  FoundTokenizer tokenizer{.missing = "tokenizer.json"};
  if (!files.has(model.tokenizer_file)) {
    if (config && !modules.is_static) {
      LB_ASSIGN_OR_RETURN(tokenizer, find_tokenizer(files, transformer, *config, tokenizer_config));
    }
    model.tokenizer_class = tokenizer.made_by;
    if (model.tokenizer_class == nullptr) {
      lacks(tokenizer.missing);
    } else {
      // Something of that name that cannot be read is no reason to take another.
      const Status found = files.open_file(model.tokenizer_file).status();
      if (found.code() != StatusCode::kNotFound) return found;
      model.tokenizer_file = transformer / model.tokenizer_class->vocabulary_file;
    }
  }
  const path index_file = transformer / kWeightsIndexFile;
  const bool has_weights = files.has(transformer / kSafetensorsFile) || files.has(index_file);
  if (modules.is_static ? !files.has(transformer / kSafetensorsFile) : !has_weights && !model.onnx_file) {
    LB_RETURN_IF_ERROR(refuse_gguf_in(files, transformer));
    if (has_pytorch_weights([&](std::string_view name) { return files.has(transformer / name); })) {
      return unsupported_file(transformer, fmt::format("its weights are in pytorch_model.bin, which is not read; {}",
                                                       kConvertPytorchWeights));
    }
    lacks("model.safetensors or onnx/model.onnx");
  }
  if (!missing.empty()) {
    // Something of that name may be there, and be no file.
    for (const path& file : {model.tokenizer_file, transformer / kSafetensorsFile}) {
      if (files.has(file)) continue;
      const Status found = files.open_file(file).status();
      if (!found.ok() && found.code() != StatusCode::kNotFound) return found;
    }
    const auto others = list_onnx_files(files);
    const std::string hint = others.empty()
                                 ? std::string()
                                 : fmt::format("; {}: embedding.onnx_file names one", say_onnx_files("it", others));
    const std::string where = transformer == place ? "it"
                                                   : fmt::format("'{}', the folder of its first module",
                                                                 printable(files.relative(transformer)));
    return Status(StatusCode::kNotFound, fmt::format("{} is no model folder: {} missing in {}{}; {}",
                                                     platform::quoted(place), missing, where, hint, kWhatAModelIs));
  }
  if (modules.is_static && is_asked_for) {
    return unsupported_file(
        place / "modules.json",
        fmt::format("StaticEmbedding with the ONNX file '{}' is not supported: it is a table of its "
                    "weights",
                    printable(options.onnx_file)));
  }
  LB_ASSIGN_OR_RETURN(const auto first_config, read_object(files, place / "config.json"));
  read_extras(own, first_config, model);
  LB_RETURN_IF_ERROR(read_defaults(modules, own, has_weights && !is_asked_for, model));

  LB_RETURN_IF_ERROR(take_kind(modules, own, config, config_file, tokenizer_config, model));
  if (!modules.listed && model.kind == EncoderKind::kEmbedder) {
    model.assumed = say_default_pooling(files, *config, modules.pooling);
  }
  ConfigFile of_transformer{.file = transformer / "sentence_bert_config.json"};
  if (modules.listed) {
    LB_ASSIGN_OR_RETURN(of_transformer.read, read_object(files, of_transformer.file));
  }
  LB_RETURN_IF_ERROR(check_task(of_transformer, modules, model));
  LB_RETURN_IF_ERROR(check_transformer_keys(
      of_transformer,
      {.kind = model.kind, .only_network = model.kind == EncoderKind::kCrossEncoder && modules.only_network()}));
  if (modules.is_static) {
    LB_RETURN_IF_ERROR(take_static(modules, model));
  } else {
    LB_RETURN_IF_ERROR(take_network(*config, config_file, modules, is_asked_for, model));
  }

  model.pooling = modules.pooling;
  model.behind_pooling = modules.behind;
  for (const auto& [key, numbers] : modules.token_widths) {
    if (model.hidden_size != 0 && numbers != model.hidden_size) {
      return invalid_file(*modules.pooling_file,
                          fmt::format("'{}' is {}, but by config.json a token's vector has {} numbers", key, numbers,
                                      model.hidden_size));
    }
    model.hidden_size = numbers;
  }

  // Models without a table of positions are bounded by their other files.
  model.small_files = {model.tokenizer_file,   config_file,
                       place / "modules.json", place / "config_sentence_transformers.json",
                       of_transformer.file,    transformer / "tokenizer_config.json"};
  const bool in_pieces = !model.weights.empty() && model.weights.front().file.filename() != kSafetensorsFile;
  if (in_pieces) model.small_files.push_back(index_file);
  for (const std::string& name : tokenizer.files)
    model.small_files.push_back(transformer / name);
  if (model.tokenizer_class == nullptr && !model.is_static) {
    for (const std::string_view name : {kSpecialTokensFile, kAddedTokensFile})
      model.small_files.push_back(model.tokenizer_file.parent_path() / name);
  }
  if (modules.pooling_file) model.small_files.push_back(*modules.pooling_file);
  std::ranges::copy(modules.files, std::back_inserter(model.small_files));
  std::erase_if(model.small_files, [&](const path& file) {
    const bool is_companion = file == own.file || file == of_transformer.file;
    return !files.has(file) || (is_companion && !modules.listed);
  });
  if (model.is_static) {
    LB_ASSIGN_OR_RETURN(model.max_tokens, read_truncation(files, model.tokenizer_file, kTokensMax));
    return model;
  }
  if (tokenizer_config) {
    const Status status = refuse_tokenizer_options(*tokenizer_config);
    if (!status.ok()) return status.with_context(platform::path_to_utf8(transformer));
  }
  LB_ASSIGN_OR_RETURN(const std::size_t positions, count_positions(*config, config_file, model.network.get()));
  LB_ASSIGN_OR_RETURN(model.max_tokens, read_max_tokens(of_transformer, transformer, tokenizer_config, positions));
  if (model.kind == EncoderKind::kMultiVectorEncoder) {
    LB_RETURN_IF_ERROR(take_multi_vectors({modules, own, of_transformer, tokenizer_config, positions}, model));
  }
  return model;
}

}  // namespace

Result<const ModelFolder*> ModelFolder::way_of(TextRole role) const {
  if (queries == nullptr) return this;
  const TextRole taken = role == TextRole::kUnsaid ? by_default : role;
  if (taken == TextRole::kUnsaid) return role_is_missing(name());
  return taken == TextRole::kQuery ? queries.get() : this;
}

std::size_t ModelFolder::dimension() const {
  std::size_t numbers = hidden_size;
  for (const VectorModule& module : behind_pooling) {
    if (const auto* const dense = std::get_if<DenseModule>(&module)) numbers = dense->out;
  }
  return numbers;
}

std::vector<path> ModelFolder::large_files() const {
  if (weights.empty()) return onnx_file ? std::vector{*onnx_file} : std::vector<path>();
  std::vector<path> files_of_weights;
  for (const WeightsFile& one : weights)
    files_of_weights.push_back(one.file);
  return files_of_weights;
}

Result<std::size_t> ModelFolder::token_limit(std::size_t wanted) const {
  if (wanted == 0) return max_tokens;
  const std::size_t most = network ? network->tokens_max() : term_table != nullptr ? kTokensMax : max_tokens;
  if (wanted > most) {
    return Status(StatusCode::kInvalidArgument,
                  fmt::format("{} can take at most {} tokens a text; {} were asked for", name(), most, wanted));
  }
  return wanted;
}

}  // namespace latebind::embedding
