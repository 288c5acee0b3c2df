#include "embedding/hub/file_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "core/json_text.h"
#include "core/text/quote.h"
#include "embedding/architectures/architecture.h"
#include "embedding/hub/name.h"
#include "embedding/onnx_files.h"
#include "embedding/tokenizer/vocabulary_files/tokenizer_class.h"
#include "embedding/weights_files.h"

namespace latebind::embedding::hub {
namespace {

using core::parse_json;
using core::printable;
using core::read_text;
using core::Result;
using core::Status;
using core::StatusCode;
using nlohmann::json;

using Names = std::set<std::string, std::less<>>;

constexpr std::size_t kModulesMax = 32;

struct ModuleFolders {
  std::vector<std::string> folders;  // each empty or with a '/' at its end; the first is the transformer's
  bool is_static = false;            // the first is StaticEmbedding, which has no config.json
};

Result<ModuleFolders> module_folders(const Names& files, const ReadFile& read) {
  constexpr const char* kFile = "modules.json";
  if (!files.contains(kFile)) return ModuleFolders{.folders = {""}};
  LB_ASSIGN_OR_RETURN(const std::string text, read(kFile));
  LB_ASSIGN_OR_RETURN(const json modules, parse_json(text, kFile));
  if (!modules.is_array() || modules.empty() || modules.size() > kModulesMax) {
    return Status(StatusCode::kInvalidModel,
                  fmt::format("{}: an array of 1 to {} modules was expected", kFile, kModulesMax));
  }
  ModuleFolders found;
  std::vector<std::string>& folders = found.folders;
  LB_ASSIGN_OR_RETURN(const std::string first, read_text(modules.front(), "type", "", kFile));
  found.is_static = first.ends_with(".StaticEmbedding");
  for (const json& module : modules) {
    LB_ASSIGN_OR_RETURN(const std::string folder, read_text(module, "path", "", kFile));
    if (folder.empty() || folder == ".") {
      folders.emplace_back();
    } else if (is_file_name(folder)) {
      folders.push_back(folder + "/");
    } else {
      return Status(StatusCode::kInvalidModel,
                    fmt::format("{}: '{}' is no folder of the model", kFile, printable(folder)));
    }
  }
  return found;
}

// The first of `candidates` that there is, or an empty text.
std::string first_of(const Names& files, const std::vector<std::string>& candidates) {
  const auto found = std::ranges::find_if(candidates, [&](const std::string& name) { return files.contains(name); });
  return found == candidates.end() ? std::string() : *found;
}

// An ONNX file with the files beside it that hold its tensors, the file itself last.
std::vector<std::string> onnx_with_data(const Names& files, const std::string& onnx) {
  std::vector<std::string> found;
  for (const std::string& file : files) {
    if (file.starts_with(onnx + "_data") || file.starts_with(onnx + ".data")) found.push_back(file);
  }
  found.push_back(onnx);
  return found;
}

// The weights, with the list of their pieces, and with an ONNX file the files beside it that hold its tensors.
Result<std::vector<std::string>> weights_of(const Names& files, const std::string& folder, const ReadFile& read,
                                            const std::string& model) {
  const std::string config_name = folder + "config.json";
  LB_ASSIGN_OR_RETURN(const std::string text, read(config_name));
  LB_ASSIGN_OR_RETURN(const json config, parse_json(text, config_name));
  LB_ASSIGN_OR_RETURN(const std::string type, read_text(config, "model_type", "", config_name));
  const std::string onnx =
      first_of(files, {folder + "onnx/model.onnx", folder + "model.onnx", "onnx/model.onnx", "model.onnx"});
  if (find_architecture(type) != nullptr) {
    const std::string index_name = folder + std::string(kWeightsIndexFile);
    const auto read_index = [&]() -> Result<std::optional<json>> {
      LB_ASSIGN_OR_RETURN(const std::string index, read(index_name));
      LB_ASSIGN_OR_RETURN(json document, parse_json(index, index_name, kWeightsIndexLimits));
      return std::optional(std::move(document));
    };
    LB_ASSIGN_OR_RETURN(
        auto weights,
        weights_file_names([&](std::string_view name) { return files.contains(folder + std::string(name)); },
                           read_index, index_name, !onnx.empty()));
    const bool in_pieces = !weights.empty() && weights.front() != kSafetensorsFile;
    for (std::string& name : weights)
      name.insert(0, folder);
    if (in_pieces) weights.insert(weights.begin(), index_name);
    if (!weights.empty()) return weights;
  }
  if (onnx.empty()) {
    if (files.contains(folder + std::string(kSafetensorsFile))) {
      return Status(StatusCode::kUnsupported,
                    fmt::format("'{}' is of the type '{}' and has no onnx/model.onnx; without one only {} is supported",
                                model, printable(type), known_architectures()));
    }
    const std::vector<std::string> others(files.begin(), files.end());
    const bool has_others =
        std::ranges::any_of(others, [](const std::string& name) { return name.ends_with(".onnx"); });
    return Status(
        StatusCode::kUnsupported,
        fmt::format("'{}' has neither model.safetensors nor onnx/model.onnx, of which one is needed; {}{}", model,
                    say_onnx_files("it", others), has_others ? ": embedding.onnx_file names one" : ""));
  }
  return onnx_with_data(files, onnx);
}

// What makes the tokenizer of a model without a tokenizer.json.
Result<FoundTokenizer> tokenizer_of(const Names& files, const std::string& folder, const ReadFile& read,
                                    const std::string& model) {
  const std::string config_name = folder + "config.json";
  if (!files.contains(config_name)) return FoundTokenizer{.missing = "tokenizer.json"};
  LB_ASSIGN_OR_RETURN(const std::string text, read(config_name));
  LB_ASSIGN_OR_RETURN(const json config, parse_json(text, config_name));
  std::optional<json> tokenizer_config;
  if (const std::string name = folder + std::string(kTokenizerConfigFile); files.contains(name)) {
    LB_ASSIGN_OR_RETURN(const std::string tokenizer_text, read(name));
    LB_ASSIGN_OR_RETURN(tokenizer_config, parse_json(tokenizer_text, name, kTokenizerConfigLimits));
  }
  auto found = find_vocabulary_files([&](std::string_view name) { return files.contains(folder + std::string(name)); },
                                     config, tokenizer_config, tokenizer_of_network(config));
  if (!found.ok()) return found.status().with_context(core::quoted(model));
  return found;
}

}  // namespace

Result<std::vector<std::string>> plan_files(const std::vector<std::string>& files, const ReadFile& read,
                                            const std::string& model, const std::string& onnx_file) {
  const Names there(files.begin(), files.end());
  const auto has = [&](std::string_view end) {
    return std::ranges::any_of(files, [end](const std::string& name) { return name.ends_with(end); });
  };
  if (has(".gguf") && !has(".safetensors") && !has(".onnx")) {
    return Status(StatusCode::kUnsupported,
                  fmt::format("'{}' has its weights in GGUF, which are not read: take the repository with "
                              "model.safetensors that they were made from, which its page on the hub names",
                              model));
  }
  LB_ASSIGN_OR_RETURN(const ModuleFolders modules, module_folders(there, read));
  const std::vector<std::string>& folders = modules.folders;
  const std::string& transformer = folders.front();
  std::vector<std::string> plan;
  const auto add = [&](const std::string& name) {
    if (there.contains(name) && std::ranges::find(plan, name) == plan.end()) plan.push_back(name);
  };

  const std::string tokenizer = first_of(there, {transformer + "tokenizer.json", "tokenizer.json"});
  FoundTokenizer made;
  if (tokenizer.empty() && modules.is_static) {
    made.missing = "tokenizer.json";
  } else if (tokenizer.empty()) {
    LB_ASSIGN_OR_RETURN(made, tokenizer_of(there, transformer, read, model));
  }
  std::string missing;
  if (!modules.is_static && !there.contains(transformer + "config.json")) missing = transformer + "config.json";
  if (!made.missing.empty()) missing += (missing.empty() ? "" : " and ") + made.missing;
  if (!missing.empty()) {
    return Status(StatusCode::kNotFound,
                  fmt::format("'{}' has no {}: is it a model for sentences, in the present layout?", model, missing));
  }

  add("modules.json");
  add("config_sentence_transformers.json");
  for (const std::string& folder : folders) {
    add(folder + "config.json");
  }
  for (const char* name : {"sentence_bert_config.json", "tokenizer_config.json", "special_tokens_map.json"}) {
    add(transformer + name);
  }
  add(tokenizer);
  for (const std::string& name : made.files)
    add(transformer + name);
  if (!onnx_file.empty()) {
    if (!stays_inside(onnx_file) || !there.contains(onnx_file)) {
      return Status(StatusCode::kNotFound,
                    fmt::format("embedding.onnx_file is {}, which is no file of the model; {}", core::quoted(onnx_file),
                                say_onnx_files(core::quoted(model), files)));
    }
    for (const std::string& name : onnx_with_data(there, onnx_file))
      add(name);
    return plan;
  }
  for (std::size_t i = modules.is_static ? 0 : 1; i < folders.size(); ++i)
    add(folders[i] + std::string(kSafetensorsFile));
  if (modules.is_static) return plan;
  LB_ASSIGN_OR_RETURN(const auto weights, weights_of(there, transformer, read, model));
  for (const std::string& name : weights) {
    add(name);
  }
  return plan;
}

}  // namespace latebind::embedding::hub
