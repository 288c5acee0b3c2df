#include "embedding/model_folder.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <limits>
#include <system_error>
#include <utility>
#include <vector>

#include "core/json_text.h"
#include "core/platform/files/folder_entries.h"
#include "core/platform/files/folders.h"
#include "core/platform/os_error.h"
#include "core/text/quote.h"
#include "embedding/gguf.h"
#include "embedding/modules.h"
#include "embedding/onnx_files.h"
#include "embedding/refusals.h"
#include "embedding/safetensors.h"
#include "embedding/take_kind.h"
#include "embedding/take_multi_vectors.h"
#include "embedding/take_network.h"
#include "embedding/take_prompts.h"
#include "embedding/tokenizer/tokenizer.h"
#include "embedding/tokenizer/vocabulary_files/tokenizer_class.h"
#include "embedding/tokenizer/vocabulary_files/vocabulary_files.h"
#include "embedding/weights_files.h"

namespace latebind::embedding {
namespace {

using core::printable;
using core::read_bool;
using core::read_size;
using core::read_text;
using core::Result;
using core::Status;
using core::StatusCode;
using nlohmann::json;
using std::filesystem::path;

// Only [CLS] and [SEP].
constexpr std::size_t kTokensMin = 2;

// How many tokens a text may have: what modules.json's companion says, else what the tokenizer's does.
Result<std::size_t> read_max_tokens(const ConfigFile& of_transformer, const path& transformer,
                                    const std::optional<json>& tokenizer_config, std::size_t position_count) {
  constexpr std::size_t kUnlimited = std::numeric_limits<std::int64_t>::max();
  const auto& [file, config] = of_transformer;
  if (config) {
    const std::string name = platform::path_to_utf8(file);
    LB_ASSIGN_OR_RETURN(const bool lower, read_bool(*config, "do_lower_case", false, name));
    if (lower) {
      return unsupported_file(file, "'do_lower_case' is true: lower-casing outside of the tokenizer is not supported");
    }
    LB_ASSIGN_OR_RETURN(const auto limit, read_size(*config, "max_seq_length", kTokensMin, kUnlimited, name));
    if (limit) return std::min(*limit, position_count);
  }
  if (!tokenizer_config) return position_count;
  const auto limit = tokenizer_config->find("model_max_length");
  if (limit == tokenizer_config->end() || !limit->is_number()) return position_count;
  // Tokenizers without a limit have 1e30 here.
  const double value = limit->get<double>();
  if (value >= static_cast<double>(position_count)) return position_count;
  if (!(value >= static_cast<double>(kTokensMin))) {
    return invalid_file(transformer / kTokenizerConfigFile,
                        fmt::format("'model_max_length' is {}, must be at least {}", value, kTokensMin));
  }
  return static_cast<std::size_t>(value);
}

// The same of static embeddings, which take any number of tokens: what tokenizer.json cuts a text to.
Result<std::size_t> read_truncation(const ModelFiles& files, const path& file, std::size_t most) {
  LB_ASSIGN_OR_RETURN(const auto tokenizer, read_object(files, file, {.bytes_max = Tokenizer::kFileBytesMax}));
  if (!tokenizer) return most;
  const auto truncation = tokenizer->find("truncation");
  if (truncation == tokenizer->end() || truncation->is_null()) return most;
  const std::string name = platform::path_to_utf8(file);
  if (!truncation->is_object()) return invalid_file(file, "'truncation' is no object");
  LB_ASSIGN_OR_RETURN(const std::string direction, read_text(*truncation, "direction", "Right", name));
  if (direction != "Right") {
    return unsupported_file(
        file, fmt::format("'truncation' is to the '{}': only texts that are cut at their end are supported",
                          printable(direction)));
  }
  constexpr std::size_t kUnlimited = std::numeric_limits<std::int64_t>::max();
  LB_ASSIGN_OR_RETURN(const auto length, read_size(*truncation, "max_length", 1, kUnlimited, name));
  return std::min(length.value_or(most), most);
}

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

// What makes the tokenizer of a folder without a tokenizer.json, which this network and its files are in.
Result<FoundTokenizer> find_tokenizer(const ModelFiles& files, const path& transformer, const json& config,
                                      const std::optional<json>& tokenizer_config) {
  auto found = find_vocabulary_files([&](std::string_view name) { return files.has(transformer / name); }, config,
                                     tokenizer_config, tokenizer_of_network(config));
  if (!found.ok()) return found.status().with_context(platform::path_to_utf8(transformer));
  return found;
}

// A sparse encoder without a network.
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
  std::ranges::copy(modules.files, std::back_inserter(model.small_files));
  std::erase_if(model.small_files, [&](const path& file) { return !files.has(file); });
  LB_ASSIGN_OR_RETURN(model.max_tokens, read_max_tokens({}, folder, tokenizer_config, kTokensMax));
  return model;
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
  LB_ASSIGN_OR_RETURN(own.read, read_object(files, own.file));
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
    return Status(StatusCode::kNotFound, fmt::format("{} is no model folder: {} missing in it{}; {}",
                                                     platform::quoted(place), missing, hint, kWhatAModelIs));
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
  ConfigFile of_transformer{.file = transformer / "sentence_bert_config.json"};
  if (modules.listed) {
    LB_ASSIGN_OR_RETURN(of_transformer.read, read_object(files, of_transformer.file));
  }
  LB_RETURN_IF_ERROR(check_task(of_transformer, modules, model));
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
  if (model.tokenizer_class != nullptr) {
    for (const std::string& name : tokenizer.files)
      model.small_files.push_back(transformer / name);
  }
  if (modules.pooling_file) model.small_files.push_back(*modules.pooling_file);
  std::ranges::copy(modules.files, std::back_inserter(model.small_files));
  std::erase_if(model.small_files, [&](const path& file) { return !files.has(file); });
  if (model.is_static) {
    LB_ASSIGN_OR_RETURN(model.max_tokens, read_truncation(files, model.tokenizer_file, kTokensMax));
    return model;
  }
  if (tokenizer_config) {
    const Status status = refuse_tokenizer_options(*tokenizer_config);
    if (!status.ok()) return status.with_context(platform::path_to_utf8(transformer));
  }
  LB_ASSIGN_OR_RETURN(const auto positions, read_size(*config, "max_position_embeddings", kTokensMin, kTokensMax,
                                                      platform::path_to_utf8(config_file)));
  LB_ASSIGN_OR_RETURN(model.max_tokens,
                      read_max_tokens(of_transformer, transformer, tokenizer_config, positions.value_or(kTokensMax)));
  if (model.kind == EncoderKind::kMultiVectorEncoder) {
    LB_RETURN_IF_ERROR(
        take_multi_vectors({modules, own, of_transformer, tokenizer_config, positions.value_or(kTokensMax)}, model));
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

Result<Tokenizer> ModelFolder::open_tokenizer() const {
  const auto text_of = [](const StoredFile& stored) {
    const auto bytes = stored.bytes();
    return std::string_view(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  };
  LB_ASSIGN_OR_RETURN(const StoredFile stored, files.open_file(tokenizer_file));
  if (tokenizer_class == nullptr)
    return Tokenizer::from_json(text_of(stored), stored.name,
                                {.special_tokens = !is_static, .markers = multi_vector.markers});

  const path folder = tokenizer_file.parent_path();
  const auto read = [&](std::string_view name) { return read_object(files, folder / name, kTokenizerConfigLimits); };
  VocabularyFiles given;
  LB_ASSIGN_OR_RETURN(given.tokenizer_config, read(kTokenizerConfigFile));
  LB_ASSIGN_OR_RETURN(given.special_tokens_map, read(kSpecialTokensFile));
  LB_ASSIGN_OR_RETURN(given.added_tokens, read(kAddedTokensFile));
  given.vocabulary = text_of(stored);
  StoredFile merges;
  if (!tokenizer_class->merges_file.empty()) {
    LB_ASSIGN_OR_RETURN(merges, files.open_file(folder / tokenizer_class->merges_file));
    given.merges = text_of(merges);
  }
  return Tokenizer::from_vocabulary_files(*tokenizer_class, given, platform::path_to_utf8(folder),
                                          {.special_tokens = !is_static, .markers = multi_vector.markers});
}

}  // namespace latebind::embedding
