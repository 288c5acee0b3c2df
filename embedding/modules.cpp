#include "embedding/modules.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <utility>

#include "core/config.h"
#include "core/json_text.h"
#include "core/platform/files/folders.h"
#include "core/platform/os_error.h"
#include "core/text/quote.h"
#include "embedding/onnx_files.h"
#include "embedding/refusals.h"

namespace latebind::embedding {

using core::printable;
using core::read_bool;
using core::read_size;
using core::read_text;
using core::Result;
using core::Status;
using core::StatusCode;
using graph::ActivationFunction;
using graph::PoolingMode;
using nlohmann::json;
using std::filesystem::path;

namespace {

constexpr std::size_t kModulesMax = 32;

// A module's folder. The list comes from outside: it must not lead out of the model's folder.
Result<path> module_folder(const path& folder, const path& file, const std::string& relative) {
  // No system takes a longer one.
  constexpr std::size_t kPathBytesMax = 4096;
  if (relative.size() > kPathBytesMax)
    return invalid_file(file, fmt::format("a module's path has more than {} bytes", kPathBytesMax));
  if (!stays_inside(relative))
    return invalid_file(file, fmt::format("the path '{}' leads out of the model's folder", printable(relative)));
  return relative.empty() || relative == "." ? folder : folder / platform::path_from_utf8(relative);
}

struct NamedMode {
  std::string_view name;  // in newer files
  const char* key;        // in older ones
  PoolingMode mode{};
};

constexpr std::array kModes{
    NamedMode{"cls", "pooling_mode_cls_token", PoolingMode::kCls},
    NamedMode{"mean", "pooling_mode_mean_tokens", PoolingMode::kMean},
    NamedMode{"max", "pooling_mode_max_tokens", PoolingMode::kMax},
    NamedMode{"lasttoken", "pooling_mode_lasttoken", PoolingMode::kLastToken},
    NamedMode{"mean_sqrt_len_tokens", "pooling_mode_mean_sqrt_len_tokens", PoolingMode::kMeanSqrt},
    NamedMode{"weightedmean", "pooling_mode_weightedmean_tokens", PoolingMode::kWeightedMean}};

Result<PoolingMode> read_pooling_mode(const json& config, const path& file) {
  const std::string name = platform::path_to_utf8(file);
  std::vector<const NamedMode*> chosen;
  LB_ASSIGN_OR_RETURN(const std::string word, read_text(config, "pooling_mode", "", name));
  if (!word.empty()) {
    const auto* found = std::ranges::find(kModes, word, &NamedMode::name);
    if (found == kModes.end()) {
      return unsupported_file(file, fmt::format("the pooling mode '{}' is not supported; supported are cls, mean, max, "
                                                "lasttoken, mean_sqrt_len_tokens and weightedmean",
                                                printable(word)));
    }
    chosen.push_back(found);
  } else {
    for (const NamedMode& mode : kModes) {
      // A file that does not mention the mean means it.
      LB_ASSIGN_OR_RETURN(const bool on, read_bool(config, mode.key, mode.mode == PoolingMode::kMean, name));
      if (on) chosen.push_back(&mode);
    }
    for (const auto& item : config.items()) {
      const std::string& key = item.key();
      const bool known = std::ranges::any_of(kModes, [&](const NamedMode& mode) { return key == mode.key; });
      if (key.starts_with("pooling_mode_") && !known && item.value() != json(false)) {
        return unsupported_file(file, fmt::format("'{}' is not known", printable(key)));
      }
    }
  }
  if (chosen.empty()) return invalid_file(file, "no pooling mode is set");
  if (chosen.size() > 1) {
    return unsupported_file(file, fmt::format("several pooling modes at once ({} and {}) are not supported",
                                              chosen[0]->name, chosen[1]->name));
  }
  return chosen.front()->mode;
}

// A module's configuration, which must be there.
Result<json> read_config(const ModelFiles& files, const path& file) {
  LB_ASSIGN_OR_RETURN(auto config, read_object(files, file));
  if (config) return *std::move(config);
  return Status(StatusCode::kNotFound, fmt::format("cannot read {}: there is no such file, but modules.json names it",
                                                   platform::quoted(file)));
}

// The size that a module's configuration must have.
Result<std::size_t> read_width(const json& config, const char* key, const path& file) {
  LB_ASSIGN_OR_RETURN(const auto width, read_size(config, key, 1, kHiddenSizeMax, platform::path_to_utf8(file)));
  if (!width) return invalid_file(file, fmt::format("'{}' is missing", key));
  return *width;
}

Status read_pooling(const ModelFiles& files, Modules& modules) {
  const path& file = *modules.pooling_file;
  LB_ASSIGN_OR_RETURN(const json config, read_config(files, file));
  LB_ASSIGN_OR_RETURN(modules.pooling, read_pooling_mode(config, file));
  LB_ASSIGN_OR_RETURN(modules.include_prompt, read_bool(config, "include_prompt", true, platform::path_to_utf8(file)));
  for (const char* key : {"word_embedding_dimension", "embedding_dimension"}) {
    LB_ASSIGN_OR_RETURN(const auto width, read_size(config, key, 1, kHiddenSizeMax, platform::path_to_utf8(file)));
    if (width) modules.token_widths.push_back({key, *width});
  }
  return {};
}

// Of a sparse encoder. The numbers of its vectors are as many as the vocabulary has, whatever the file says.
Result<SparseRule> read_sparse_pooling(const ModelFiles& files, const path& file) {
  LB_ASSIGN_OR_RETURN(const json config, read_config(files, file));
  const std::string name = platform::path_to_utf8(file);
  LB_ASSIGN_OR_RETURN(const std::string strategy, read_text(config, "pooling_strategy", "max", name));
  if (strategy != "max") {
    return unsupported_file(file,
                            fmt::format("'pooling_strategy' is '{}'; only max is supported", printable(strategy)));
  }
  LB_ASSIGN_OR_RETURN(const std::string function, read_text(config, "activation_function", "relu", name));
  if (function != "relu" && function != "log1p_relu") {
    return unsupported_file(
        file, fmt::format("'activation_function' is '{}'; supported are relu and log1p_relu", printable(function)));
  }
  return SparseRule{.log_twice = function == "log1p_relu"};
}

// What modules read and write, in sentence-transformers' words.
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

// `vectors`: what it reads where the file does not say. `scores`: set where it gives those.
Result<VectorModule> read_dense(const ModelFiles& files, const path& file, std::string place, std::string_view vectors,
                                bool& scores) {
  const std::string name = platform::path_to_utf8(file);
  LB_ASSIGN_OR_RETURN(const json config, read_config(files, file));
  DenseModule dense{.place = std::move(place)};
  LB_ASSIGN_OR_RETURN(dense.in, read_width(config, "in_features", file));
  LB_ASSIGN_OR_RETURN(dense.out, read_width(config, "out_features", file));
  LB_ASSIGN_OR_RETURN(dense.has_bias, read_bool(config, "bias", true, name));
  LB_ASSIGN_OR_RETURN(const std::string word,
                      read_text(config, "activation_function", "torch.nn.modules.activation.Tanh", name));
  const auto* const found = std::ranges::find(kActivations, word, &NamedActivation::name);
  if (found == kActivations.end()) {
    return unsupported_file(file, fmt::format("'activation_function' is '{}'; supported are Identity, Tanh, GELU, ReLU "
                                              "and SiLU of torch.nn",
                                              printable(word)));
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

// A module behind pooling, with its weights, which are beside its configuration.
Status read_behind(const ModelFiles& files, const std::string& kind, const path& folder, Modules& modules) {
  const path file = folder / "config.json";
  const path weights = folder / kSafetensorsFile;
  std::string place = files.relative(folder) + "/";
  if (kind == "Dense") {
    const std::string_view vectors = modules.of_tokens ? kTokenVectors : kVector;
    LB_ASSIGN_OR_RETURN(auto dense, read_dense(files, file, place, vectors, modules.scores));
    modules.behind.push_back(std::move(dense));
  } else {
    LB_ASSIGN_OR_RETURN(const json config, read_config(files, file));
    LB_ASSIGN_OR_RETURN(const std::size_t width, read_width(config, "dimension", file));
    modules.behind.emplace_back(LayerNormModule{.place = place, .width = width});
  }
  modules.files.push_back(file);
  if (!files.has(weights)) {
    return unsupported_file(
        folder, fmt::format("the module {} has no {}, the only form of weights that is read", kind, kSafetensorsFile));
  }
  modules.weights.push_back({.file = weights, .place = std::move(place)});
  return {};
}

// One of a multi-vector encoder's, behind the network.
Status read_token_module(const ModelFiles& files, const std::string& type, const std::string& kind, std::size_t number,
                         const path& place, Modules& modules) {
  const path list = files.place() / "modules.json";
  const bool has_folder = place != files.place() && place != modules.transformer;
  if (kind == "Dense" && !modules.normalize && has_folder) return read_behind(files, kind, place, modules);
  if (kind == "MultiVectorMask" && !modules.mask_file && !modules.adds_token_ends && has_folder) {
    modules.mask_file = place / "config.json";
    modules.files.push_back(*modules.mask_file);
    return {};
  }
  if (kind == "Normalize") {
    const path file = place / "config.json";
    LB_ASSIGN_OR_RETURN(const auto config,
                        has_folder ? read_object(files, file) : Result<std::optional<json>>(std::nullopt));
    std::string input(kVector);
    if (config) {
      const std::string name = platform::path_to_utf8(file);
      LB_ASSIGN_OR_RETURN(input, read_text(*config, "module_input_name", kVector, name));
      LB_ASSIGN_OR_RETURN(const std::string output, read_text(*config, "module_output_name", input, name));
      if (output != input) {
        return unsupported_file(file,
                                fmt::format("'module_output_name' is '{}' and 'module_input_name' '{}': both must "
                                            "be the same",
                                            printable(output), printable(input)));
      }
      modules.files.push_back(file);
    }
    // There is no vector of a text: the reference leaves all as it is.
    if (input == kTokenVectors) modules.normalize = true;
    return {};
  }
  // What was made for one vector is left out where a model that was is read as this.
  if (modules.adds_token_ends && kind == "Pooling") return {};
  return unsupported_file(list, fmt::format("the module '{}' as number {} is not supported in a multi-vector encoder; "
                                            "supported are Transformer, then any of Dense, and, each once, "
                                            "MultiVectorMask and Normalize",
                                            printable(type), number + 1));
}

// The next module of the list; `number` is how many came before.
Status read_module(const ModelFiles& files, const json& module, std::size_t number, Modules& modules) {
  const path& folder = files.place();
  const path file = folder / "modules.json";
  const std::string name = platform::path_to_utf8(file);
  if (!module.is_object()) return invalid_file(file, "a module is no object");
  LB_ASSIGN_OR_RETURN(const std::string type, read_text(module, "type", "", name));
  LB_ASSIGN_OR_RETURN(const std::string relative, read_text(module, "path", "", name));
  LB_ASSIGN_OR_RETURN(const path place, module_folder(folder, file, relative));
  const bool is_known =
      type.starts_with("sentence_transformers.") || (modules.of_tokens && type == "pylate.models.Dense.Dense");
  const std::string kind = is_known ? type.substr(type.rfind('.') + 1) : std::string();
  if (modules.of_tokens && number > 0) return read_token_module(files, type, kind, number, place, modules);
  const bool is_open =
      (modules.pooling_file || modules.is_static) && !modules.normalize && !modules.scores && !modules.sparse;
  // The last is the name that older files have for a Transformer with the task fill-mask.
  const bool is_network =
      kind == "Transformer" || (!modules.of_tokens && (kind == "StaticEmbedding" || kind == "MLMTransformer"));
  if (is_network && number == 0) {
    modules.transformer = place;
    modules.is_static = kind == "StaticEmbedding";
    modules.scores_terms = kind == "MLMTransformer";
    return {};
  }
  if (kind == "Pooling" && number == 1 && !modules.is_static) {
    modules.pooling_file = place / "config.json";
    return read_pooling(files, modules);
  }
  if (kind == "SpladePooling" && number == 1 && !modules.is_static) {
    modules.pooling_file = place / "config.json";
    modules.pooling = PoolingMode::kMax;
    LB_ASSIGN_OR_RETURN(modules.sparse, read_sparse_pooling(files, *modules.pooling_file));
    return {};
  }
  if (kind == "Normalize" && is_open) {
    modules.normalize = true;
    return {};
  }
  // Only training has dropouts.
  if (kind == "Dropout" && is_open) return {};
  // A module of its own: weights of the model's own folder are the transformer's.
  if ((kind == "Dense" || kind == "LayerNorm") && is_open && place != folder && place != modules.transformer)
    return read_behind(files, kind, place, modules);
  return unsupported_file(file, fmt::format("the module '{}' as number {} is not supported; supported are Transformer "
                                            "and Pooling, or StaticEmbedding, then any of Dense, LayerNorm and Dropout "
                                            "and, perhaps, Normalize, in this order, or Transformer and SpladePooling",
                                            printable(type), number + 1));
}

}  // namespace

Result<std::optional<json>> read_object(const ModelFiles& files, const path& file, const core::JsonLimits& limits) {
  LB_ASSIGN_OR_RETURN(auto document, files.read_json(file, limits));
  if (document && !document->is_object()) return invalid_file(file, "an object was expected, found an array");
  return document;
}

Result<Modules> read_modules(const ModelFiles& files, const ConfigFile& own, const std::optional<json>& config) {
  Modules modules{.transformer = files.place()};
  const path file = files.place() / "modules.json";
  LB_ASSIGN_OR_RETURN(const auto document, files.read_json(file));
  modules.listed = document.has_value();
  modules.of_tokens = has_multi_vectors(own, modules.listed, config);
  if (!document) {
    // Stanford's ColBERT, whose projection is among the network's own weights.
    modules.normalize = modules.of_tokens;
    if (modules.of_tokens) modules.files.push_back(files.place() / kColbertFile);
    return modules;
  }
  if (modules.of_tokens && own.read) {
    const auto type = own.read->find("model_type");
    const bool has_none = type == own.read->end() || type->is_null();
    modules.adds_token_ends = is_colbert(*own.read) || (has_none && has_pylate_keys(*own.read));
  }
  if (!document->is_array()) return invalid_file(file, "an array of modules was expected");
  if (document->empty() || document->size() > kModulesMax) {
    return invalid_file(file, fmt::format("{} modules, between 1 and {} are read", document->size(), kModulesMax));
  }
  for (std::size_t i = 0; i < document->size(); ++i)
    LB_RETURN_IF_ERROR(read_module(files, (*document)[i], i, modules));
  if (modules.adds_token_ends) {
    if (modules.behind.empty() && !is_colbert(*own.read)) {
      return unsupported_file(file, "no Dense module: a projection of each token's vector is yet to be trained");
    }
    modules.normalize = true;
  }
  return modules;
}

}  // namespace latebind::embedding
