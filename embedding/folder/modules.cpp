#include "embedding/folder/modules.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/config.h"
#include "core/json/read.h"
#include "core/platform/files/folders.h"
#include "core/platform/os_error.h"
#include "core/text/nearest_word.h"
#include "core/text/quote.h"
#include "embedding/folder/auto_encoder_module.h"
#include "embedding/folder/default_pooling.h"
#include "embedding/folder/known_modules.h"
#include "embedding/folder/known_words.h"
#include "embedding/folder/onnx_files.h"
#include "embedding/folder/pooling_mode.h"
#include "embedding/folder/refusals.h"
#include "embedding/folder/transformer_keys.h"
#include "embedding/folder/weights_files.h"
#include "embedding/folder/word_embeddings_module.h"
#include "embedding/weights/safetensors.h"

namespace latebind::embedding {

using core::Json;
using core::printable;
using core::read_bool;
using core::read_size;
using core::read_text;
using core::Result;
using core::Status;
using core::StatusCode;
using core::words_of;
using graph::ActivationFunction;
using graph::PoolingMode;
using std::filesystem::path;

namespace {

// Reads a size that a module's configuration must have.
Result<std::size_t> read_width(const Json& config, const char* key, const path& file) {
  LB_ASSIGN_OR_RETURN(const auto width, read_size(config, key, 1, kHiddenSizeMax, platform::path_to_utf8(file)));
  if (!width) return invalid_file(file, fmt::format("'{}' is missing", key));
  return *width;
}

Status read_pooling(const ModelFiles& files, Modules& modules) {
  const path& file = *modules.pooling_file;
  LB_ASSIGN_OR_RETURN(const Json config, read_module_config(files, file));
  LB_ASSIGN_OR_RETURN(modules.pooling, read_pooling_mode(config, file));
  LB_ASSIGN_OR_RETURN(modules.include_prompt, read_bool(config, "include_prompt", true, platform::path_to_utf8(file)));
  for (const char* key : {"word_embedding_dimension", "embedding_dimension"}) {
    LB_ASSIGN_OR_RETURN(const auto width, read_size(config, key, 1, kHiddenSizeMax, platform::path_to_utf8(file)));
    if (width) modules.token_widths.push_back({key, *width});
  }
  return modules.words_max ? take_word_pooling(modules) : Status();
}

// The names of the vectors that modules read and write, from sentence-transformers.
constexpr std::string_view kVector = "sentence_embedding";
constexpr std::string_view kTokenVectors = "token_embeddings";

struct NamedActivation {
  std::string_view name;
  std::optional<ActivationFunction> function;
};
constexpr std::array kActivations{NamedActivation{"torch.nn.modules.linear.Identity", std::nullopt},
                                  NamedActivation{"torch.nn.modules.activation.Tanh", ActivationFunction::kTanh},
                                  NamedActivation{"torch.nn.modules.activation.GELU", ActivationFunction::kGeluErf},
                                  NamedActivation{"torch.nn.modules.activation.ReLU", ActivationFunction::kRelu},
                                  NamedActivation{"torch.nn.modules.activation.SiLU", ActivationFunction::kSilu}};

// `vectors` is the default input. Sets `scores` if the module gives scores.
Result<VectorModule> read_dense(const ModelFiles& files, const path& file, std::string place, std::string_view vectors,
                                bool& scores) {
  const std::string name = platform::path_to_utf8(file);
  LB_ASSIGN_OR_RETURN(const Json config, read_module_config(files, file));
  DenseModule dense{.place = std::move(place)};
  LB_ASSIGN_OR_RETURN(dense.in, read_width(config, "in_features", file));
  LB_ASSIGN_OR_RETURN(dense.out, read_width(config, "out_features", file));
  LB_ASSIGN_OR_RETURN(dense.has_bias, read_bool(config, "bias", true, name));
  LB_ASSIGN_OR_RETURN(const std::string word,
                      read_text(config, "activation_function", "torch.nn.modules.activation.Tanh", name));
  const auto* const found = std::ranges::find(kActivations, word, &NamedActivation::name);
  if (found == kActivations.end()) {
    return unknown_word(file, "activation_function", word, words_of(kActivations, &NamedActivation::name));
  }
  dense.activation = found->function;
  LB_ASSIGN_OR_RETURN(const bool has_residual, read_bool(config, "use_residual", false, name));
  if (has_residual) dense.residual = dense.in == dense.out ? Residual::kAsItIs : Residual::kProjected;
  LB_ASSIGN_OR_RETURN(const std::string input, read_text(config, "module_input_name", vectors, name));
  if (input != vectors) {
    return unsupported_file(
        file, fmt::format("'module_input_name' is '{}'; only {} is supported", printable(input), vectors));
  }
  LB_ASSIGN_OR_RETURN(const std::string output, read_text(config, "module_output_name", vectors, name));
  scores = output == "scores" && vectors == kVector;
  if (output != vectors && !scores) {
    return unsupported_file(file,
                            fmt::format("'module_output_name' is '{}'; supported are {} and, of cross-encoders, scores",
                                        printable(output), vectors));
  }
  return VectorModule(std::move(dense));
}

// Reads a module after the pooling, with the weights beside its configuration.
Status read_after_pooling(const ModelFiles& files, const std::string& kind, const path& folder, Modules& modules) {
  const path file = folder / "config.json";
  std::string place = files.relative(folder) + "/";
  if (kind == "Dense") {
    const std::string_view vectors = modules.of_tokens ? kTokenVectors : kVector;
    LB_ASSIGN_OR_RETURN(auto dense, read_dense(files, file, place, vectors, modules.scores));
    modules.after_pooling.push_back(std::move(dense));
  } else {
    LB_ASSIGN_OR_RETURN(const Json config, read_module_config(files, file));
    LB_ASSIGN_OR_RETURN(const std::size_t width, read_width(config, "dimension", file));
    modules.after_pooling.emplace_back(LayerNormModule{.place = place, .width = width});
  }
  modules.files.push_back(file);
  const path weights = single_weights_file(files, folder);
  if (!files.has(weights)) {
    return unsupported_file(folder,
                            fmt::format("the module {} has neither {} nor {}", kind, kSafetensorsFile, kTorchFile));
  }
  modules.weights.push_back({.file = weights, .place = std::move(place)});
  return {};
}

// Returns the name of the vectors that Normalize gives length 1. Older models have no configuration for it, and perhaps
// no separate folder.
Result<std::string> read_normalize(const ModelFiles& files, const path& place, bool has_folder, Modules& modules) {
  const path file = place / "config.json";
  LB_ASSIGN_OR_RETURN(const auto config,
                      has_folder ? read_object(files, file) : Result<std::optional<Json>>(std::nullopt));
  if (!config) return std::string(kVector);
  const std::string name = platform::path_to_utf8(file);
  // Null differs from an absent key: the reference then finds no vector to normalize.
  if (const auto found = config->find("module_input_name"); found != nullptr && found->is_null())
    return unsupported_file(file, "'module_input_name' is null, which is the name of no vector");
  LB_ASSIGN_OR_RETURN(std::string input, read_text(*config, "module_input_name", kVector, name));
  LB_ASSIGN_OR_RETURN(const std::string output, read_text(*config, "module_output_name", input, name));
  if (output != input) {
    return unsupported_file(
        file, fmt::format("'module_output_name' is '{}' and 'module_input_name' '{}': both must be the same",
                          printable(output), printable(input)));
  }
  modules.files.push_back(file);
  return input;
}

// Returns the error for a module that is unknown, or in the wrong position.
Status unsupported_module(const path& list, std::string_view type, std::size_t number, std::string_view in,
                          std::span<const std::string_view> known, std::string_view listed) {
  const auto kind = [](std::string_view name) { return name.substr(name.rfind('.') + 1); };
  // The name is correct then, but its position is wrong.
  const bool is_known = std::ranges::any_of(known, [&](std::string_view one) {
    return type.starts_with("sentence_transformers.") && kind(one) == kind(type);
  });
  return unsupported_file(
      list, fmt::format("the module '{}' as number {} is not supported{}{}", printable(type), number + 1, in,
                        core::supported_instead(is_known ? std::string_view() : type, known, listed)));
}

// Reads a module of a multi-vector encoder, after the network.
Status read_token_module(const ModelFiles& files, const std::string& type, std::string_view kind, std::size_t number,
                         const path& place, Modules& modules) {
  const path list = files.place() / "modules.json";
  const bool has_folder = place != files.place() && place != modules.transformer;
  if (kind == "Dense" && !modules.normalize && has_folder)
    return read_after_pooling(files, std::string(kind), place, modules);
  if (kind == "MultiVectorMask" && !modules.mask_file && !modules.adds_token_ends && has_folder) {
    modules.mask_file = place / "config.json";
    modules.files.push_back(*modules.mask_file);
    return {};
  }
  if (kind == "Normalize") {
    LB_ASSIGN_OR_RETURN(const std::string vectors, read_normalize(files, place, has_folder, modules));
    // The reference ignores any other name, because the model has no vector of a text.
    if (vectors == kTokenVectors) modules.normalize = true;
    return {};
  }
  // A pooling module is ignored if a dense model is read as a multi-vector encoder.
  if (modules.adds_token_ends && kind == "Pooling") return {};
  return unsupported_module(list, type, number, " in a multi-vector encoder", kTokenModules,
                            "supported are Transformer, then any of Dense, and, each once, MultiVectorMask and "
                            "Normalize");
}

// Finds the module class that replaces Transformer for the network of this config.json.
void find_own_module(const Json& config, Modules& modules) {
  const Json* const type = core::find_member(config, "model_type");
  const Architecture* const architecture = type != nullptr ? find_architecture(type->text()) : nullptr;
  const bool is_its =
      architecture != nullptr && !architecture->own_module_key.empty() && config.contains(architecture->own_module_key);
  if (!is_its) return;
  modules.own_module = architecture->own_module;
  modules.own_pooling = architecture->own_module_pools;
}

// Reads the next module of `file`; `number` modules precede it.
Status read_module(const ModelFiles& files, const path& file, const ListedModule& module, std::size_t number,
                   Modules& modules) {
  const path& folder = files.place();
  const path place = module.folder.empty() ? folder : folder / platform::path_from_utf8(module.folder);
  const bool is_own = number == 0 && modules.own_module == module.type && !modules.own_module.empty();
  const bool is_pylates = modules.of_tokens && module.type == "pylate.models.Dense.Dense";
  const std::string_view kind = is_pylates ? std::string_view("Dense")
                                : is_own   ? std::string_view("Transformer")
                                           : module.kind();
  if (modules.of_tokens && number > 0) return read_token_module(files, module.type, kind, number, place, modules);
  const bool is_pooled = modules.pooling_file || (modules.is_static && !modules.words_max);
  const bool is_open =
      is_pooled && !modules.normalize && !modules.scores && !modules.pools_terms && modules.latents_kept == 0;
  if (kind == "WordEmbeddings" && number == 0 && !modules.of_tokens) return read_word_embeddings(files, place, modules);
  // MLMTransformer is the older name of a Transformer with the task fill-mask.
  const bool is_network = kind == "Transformer" || kind == "SparseStaticEmbedding" ||
                          (!modules.of_tokens && (kind == "StaticEmbedding" || kind == "MLMTransformer"));
  if (is_network && number == 0) {
    modules.transformer = place;
    modules.is_static = kind == "StaticEmbedding";
    modules.is_term_table = kind == "SparseStaticEmbedding";
    modules.scores_terms = kind == "MLMTransformer";
    if (is_own && modules.own_pooling) {
      modules.pooling_file = place / "config.json";
      modules.pooling = *modules.own_pooling;
      modules.normalize = true;
    }
    return {};
  }
  const bool follows_network =
      number == 1 && !modules.is_static && !modules.is_term_table && !modules.takes_pooler && !modules.pooling_file;
  if (kind == "Pooling" && (follows_network || (number == 1 && modules.words_max))) {
    modules.pooling_file = place / "config.json";
    return read_pooling(files, modules);
  }
  if (kind == "SpladePooling" && follows_network) {
    modules.pooling_file = place / "config.json";
    modules.pooling = PoolingMode::kMax;
    modules.pools_terms = true;
    return {};
  }
  const bool has_folder = place != folder && place != modules.transformer;
  if (kind == "LogitScore" && follows_network && has_folder) {
    modules.token_score_file = place / "config.json";
    modules.files.push_back(*modules.token_score_file);
    return {};
  }
  if (kind == "Normalize" && is_open) {
    LB_ASSIGN_OR_RETURN(const std::string vectors, read_normalize(files, place, has_folder, modules));
    if (vectors != kVector) {
      return unsupported_file(place / "config.json", fmt::format("'module_input_name' is '{}'; only {} is supported",
                                                                 printable(vectors), kVector));
    }
    modules.normalize = true;
    return {};
  }
  // Dropout has an effect only in training.
  if (kind == "Dropout" && is_open) return {};
  // The module must have a separate folder, because weights in the model's folder are the transformer's.
  if ((kind == "Dense" || kind == "LayerNorm") && is_open && has_folder)
    return read_after_pooling(files, std::string(kind), place, modules);
  if (kind == "SparseAutoEncoder" && is_open && has_folder) return read_auto_encoder(files, place, modules);
  return unsupported_module(
      file, module.type, number, "", kModules,
      "supported are Transformer and Pooling, WordEmbeddings and Pooling, or StaticEmbedding, then any of Dense, "
      "LayerNorm and Dropout and, perhaps, Normalize or SparseAutoEncoder, in this order, or Transformer and "
      "SpladePooling, or Transformer and LogitScore, or SparseStaticEmbedding; or a Router to such modules as the "
      "first");
}

Status read_pooler(const ModelFiles& files, Modules& modules) {
  const path file = modules.transformer / "sentence_bert_config.json";
  LB_ASSIGN_OR_RETURN(const auto config, read_object(files, file));
  if (!config || !asks_for_pooler(*config)) return {};
  modules.takes_pooler = true;
  modules.pooling = PoolingMode::kCls;
  modules.pooling_file = file;
  return {};
}

}  // namespace

Json describe_modules(std::span<const VectorModule> modules) {
  Json described = Json::array();
  for (const VectorModule& module : modules) {
    if (const auto* const dense = std::get_if<DenseModule>(&module)) {
      described.push_back({{"module", "Dense"}, {"in", dense->in}, {"out", dense->out}});
    } else {
      described.push_back({{"module", "LayerNorm"}, {"width", std::get<LayerNormModule>(module).width}});
    }
  }
  return described;
}

Result<Json> read_module_config(const ModelFiles& files, const path& file) {
  LB_ASSIGN_OR_RETURN(auto config, read_object(files, file));
  if (config) return *std::move(config);
  return Status(StatusCode::kNotFound, fmt::format("cannot read {}: there is no such file, but modules.json names it",
                                                   platform::quoted(file)));
}

Result<Modules> read_modules(const ModelFiles& files, const ConfigFile& own, const std::optional<Json>& config,
                             TextRole role) {
  Modules modules{.transformer = files.place()};
  path file = files.place() / "modules.json";
  LB_ASSIGN_OR_RETURN(const auto document, files.read_json(file));
  modules.listed = document.has_value();
  modules.of_tokens = has_multi_vectors(own, modules.listed, config);
  if (!document) {
    // A multi-vector encoder is Stanford's ColBERT then, whose projection is among the network's weights.
    modules.normalize = modules.of_tokens;
    if (modules.of_tokens) {
      modules.files.push_back(files.place() / kColbertFile);
    } else if (config) {
      modules.scoring = find_scoring_code(files, *config);
      LB_ASSIGN_OR_RETURN(modules.pooling, default_pooling(*config, files.place() / "config.json"));
    }
    return modules;
  }
  if (modules.of_tokens && own.read) {
    const bool has_none = core::find_member(*own.read, "model_type") == nullptr;
    modules.adds_token_ends = is_colbert(*own.read) || (has_none && has_pylate_keys(*own.read));
  }
  LB_ASSIGN_OR_RETURN(std::vector<ListedModule> list, read_module_list(*document, platform::path_to_utf8(file)));
  if (begins_with_router(list)) {
    const std::string& folder = list.front().folder;
    const path router_file = files.place() / platform::path_from_utf8(folder) / kRouterFile;
    LB_ASSIGN_OR_RETURN(const Json router, read_module_config(files, router_file));
    LB_ASSIGN_OR_RETURN(modules.router, read_router(router, folder, platform::path_to_utf8(router_file)));
    modules.files.push_back(router_file);
    const auto& route = modules.router->modules_of(role);
    list.erase(list.begin());
    list.insert(list.begin(), route.begin(), route.end());
    file = router_file;
  }
  if (config) find_own_module(*config, modules);
  for (std::size_t i = 0; i < list.size(); ++i) {
    LB_RETURN_IF_ERROR(read_module(files, file, list[i], i, modules));
    if (i == 0 && modules.may_have_pooler()) LB_RETURN_IF_ERROR(read_pooler(files, modules));
  }
  if (modules.adds_token_ends) {
    if (modules.after_pooling.empty() && !is_colbert(*own.read)) {
      return unsupported_file(file, "no Dense module: a projection of each token's vector is yet to be trained");
    }
    modules.normalize = true;
  }
  return modules;
}

}  // namespace latebind::embedding
