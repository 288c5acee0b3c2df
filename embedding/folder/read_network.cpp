#include "embedding/folder/read_network.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/json/read.h"
#include "core/platform/files/folders.h"
#include "core/text/nearest_word.h"
#include "core/text/quote.h"
#include "embedding/folder/refusals.h"
#include "embedding/folder/weights_files.h"
#include "embedding/tables/static_embedding.h"
#include "embedding/weights/open_tensors.h"

namespace latebind::embedding {

using core::Json;
using core::printable;
using core::read_size;
using core::read_text;
using core::Result;
using core::Status;
using std::filesystem::path;

namespace {

Result<NetworkHead> read_head(const ConfigFile& config, const Architecture& architecture, const HeadKind& head) {
  if (head.is_known(architecture)) return head.read(architecture, *config.read, config.file);
  std::vector<std::string_view> known;
  for (const Architecture& one : architectures()) {
    if (head.is_known(one)) known.push_back(one.model_type);
  }
  return unsupported_file(
      config.file, fmt::format("networks for {} of 'model_type' '{}' are not supported{}", head.task,
                               architecture.model_type, core::supported_instead(architecture.model_type, known)));
}

// Reads the network of StaticEmbedding or WordEmbeddings, which its weights describe.
Result<NetworkSpec> read_static(const ModelFiles& files, const Modules& modules) {
  const path file = single_weights_file(files, modules.transformer);
  LB_ASSIGN_OR_RETURN(StoredFile stored, files.open_file(file));
  LB_ASSIGN_OR_RETURN(const TensorFile weights, open_tensors(std::move(stored.part), stored.name));
  NetworkSpec spec{
      .weights = {{.file = file, .place = {}}}, .is_static = true, .has_words = modules.words_max.has_value()};
  LB_ASSIGN_OR_RETURN(spec.network, spec.has_words ? read_word_table(weights) : read_static_embedding(weights));
  spec.hidden_size = spec.network->hidden_size();
  std::ranges::copy(modules.weights, std::back_inserter(spec.weights));
  return spec;
}

Result<NetworkSpec> read_transformer(const Declaration& given, const HeadKind* head) {
  const auto& [file, config] = given.contents.config;
  const bool is_onnx_requested = given.contents.is_onnx_requested;
  const std::string config_name = platform::path_to_utf8(file);
  NetworkSpec spec{.onnx_file = given.contents.onnx_file};
  LB_ASSIGN_OR_RETURN(const std::string type, read_text(*config, "model_type", "", config_name));
  const Architecture* const architecture = find_architecture(type);
  auto network =
      architecture != nullptr ? architecture->read(*config, file) : Result<std::shared_ptr<const Network>>(nullptr);
  // A requested ONNX file computes the network, so it does not matter whether Latebind could.
  if (architecture == nullptr || (is_onnx_requested && !network.ok())) {
    if (!spec.onnx_file) {
      return unsupported_file(file, fmt::format("'model_type' is '{}'{}", printable(type), known_architectures(type)));
    }
    LB_ASSIGN_OR_RETURN(const auto hidden, read_size(*config, "hidden_size", 1, kHiddenSizeMax, config_name));
    spec.hidden_size = hidden.value_or(0);
    return spec;
  }
  LB_ASSIGN_OR_RETURN(spec.network, std::move(network));
  spec.hidden_size = spec.network->hidden_size();
  spec.pooler = architecture->pooler;
  if (head != nullptr) {
    auto read = read_head(given.contents.config, *architecture, *head);
    if (!read.ok() && !is_onnx_requested && (head->is_known(*architecture) || !spec.onnx_file)) return read.status();
    if (read.ok()) spec.head = *std::move(read);
    if (!read.ok()) return spec;
  }
  if (is_onnx_requested) return spec;
  const path& transformer = given.contents.network;
  LB_ASSIGN_OR_RETURN(
      const WeightsNames weights,
      weights_file_names(
          {.has = [&](std::string_view name) { return given.files.has(transformer / name); },
           .read_index =
               [&](std::string_view name) { return given.files.read_json(transformer / name, kWeightsIndexLimits); },
           .shown = [&](std::string_view name) { return platform::path_to_utf8(transformer / name); }},
          spec.onnx_file.has_value()));
  for (const std::string& name : weights.files)
    spec.weights.push_back({.file = transformer / name, .place = {}});
  if (!weights.files.empty()) {
    spec.adapter = given.contents.adapter;
    spec.tasks = given.contents.tasks;
  }
  if (!weights.files.empty()) std::ranges::copy(given.modules.weights, std::back_inserter(spec.weights));
  return spec;
}

}  // namespace

Result<NetworkSpec> read_network(const Declaration& given, const HeadKind* head) {
  const Modules& modules = given.modules;
  LB_ASSIGN_OR_RETURN(NetworkSpec spec,
                      modules.is_static ? read_static(given.files, modules) : read_transformer(given, head));
  for (const auto& [key, numbers] : modules.token_widths) {
    if (spec.hidden_size != 0 && numbers != spec.hidden_size) {
      return invalid_file(*modules.pooling_file,
                          fmt::format("'{}' is {}, but by config.json a token's vector has {} numbers", key, numbers,
                                      spec.hidden_size));
    }
    spec.hidden_size = numbers;
  }
  return spec;
}

Status check_task(const ConfigFile& of_transformer, const Modules& modules, const HeadKind* head) {
  constexpr std::string_view kTokens = "feature-extraction";
  const auto& [file, config] = of_transformer;
  std::string task(modules.scores_terms ? "fill-mask" : "");
  if (config) {
    LB_ASSIGN_OR_RETURN(task, read_text(*config, "transformer_task", task, platform::path_to_utf8(file)));
  }
  const bool is_default = head == nullptr || head->is_default_task || modules.scoring != nullptr;
  if ((task.empty() && is_default) || task == (head != nullptr ? head->transformer_task : kTokens)) return {};
  return unsupported_file(file, fmt::format("'transformer_task' is '{}', which does not give what the modules need",
                                            task.empty() ? kTokens : printable(task)));
}

}  // namespace latebind::embedding
