#include "embedding/take_network.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/json_text.h"
#include "core/platform/files/folders.h"
#include "core/text/nearest_word.h"
#include "core/text/quote.h"
#include "embedding/model_folder.h"
#include "embedding/refusals.h"
#include "embedding/safetensors.h"
#include "embedding/static_embedding.h"
#include "embedding/weights_files.h"

namespace latebind::embedding {

using core::printable;
using core::read_size;
using core::read_text;
using core::Result;
using core::Status;
using nlohmann::json;
using std::filesystem::path;

namespace {

// Whether the way from its vectors to what this kind gives is known.
bool has_head(const Architecture& architecture, EncoderKind kind) {
  switch (kind) {
    case EncoderKind::kCrossEncoder:
      return architecture.read_classifier != nullptr;
    case EncoderKind::kSparseEncoder:
      return architecture.read_vocabulary != nullptr;
    case EncoderKind::kEmbedder:
    case EncoderKind::kMultiVectorEncoder:
      break;
  }
  return true;
}

// That way, where the modules have none.
Status take_head(const json& config, const path& config_file, const Architecture& architecture, const Modules& modules,
                 ModelFolder& model) {
  const bool classifies = model.kind == EncoderKind::kCrossEncoder;
  if (model.kind == EncoderKind::kEmbedder || model.kind == EncoderKind::kMultiVectorEncoder ||
      (classifies && !modules.only_network())) {
    return {};
  }
  if (!has_head(architecture, model.kind)) {
    std::vector<std::string_view> known;
    for (const Architecture& one : architectures()) {
      if (has_head(one, model.kind)) known.push_back(one.model_type);
    }
    return unsupported_file(
        config_file, fmt::format("networks for {} of 'model_type' '{}' are not supported{}",
                                 classifies ? "sequence classification" : "masked language modelling",
                                 architecture.model_type, core::supported_instead(architecture.model_type, known)));
  }
  if (classifies) {
    LB_ASSIGN_OR_RETURN(model.classifier, architecture.read_classifier(config, config_file));
    model.classifier->labels = model.scores.labels.size();
  } else {
    LB_ASSIGN_OR_RETURN(model.vocabulary, architecture.read_vocabulary(config, config_file));
  }
  return {};
}

}  // namespace

Status take_static(const Modules& modules, ModelFolder& model) {
  const path file = modules.transformer / kSafetensorsFile;
  LB_ASSIGN_OR_RETURN(StoredFile stored, model.files.open_file(file));
  LB_ASSIGN_OR_RETURN(const Safetensors weights, Safetensors::from_part(std::move(stored.part), stored.name));
  LB_ASSIGN_OR_RETURN(model.network, read_static_embedding(weights));
  model.hidden_size = model.network->hidden_size();
  model.weights.push_back({.file = file, .place = {}});
  std::ranges::copy(modules.weights, std::back_inserter(model.weights));
  return {};
}

Status take_network(const json& config, const path& config_file, const Modules& modules, bool is_onnx_asked_for,
                    ModelFolder& model) {
  const ModelFiles& files = model.files;
  const path index_file = modules.transformer / kWeightsIndexFile;
  const std::string config_name = platform::path_to_utf8(config_file);
  LB_ASSIGN_OR_RETURN(const std::string type, read_text(config, "model_type", "", config_name));
  const Architecture* const architecture = find_architecture(type);
  auto network = architecture != nullptr ? architecture->read(config, config_file)
                                         : Result<std::shared_ptr<const Network>>(nullptr);
  // What Latebind would compute otherwise does not matter where a ready file does it.
  if (architecture == nullptr || (is_onnx_asked_for && !network.ok())) {
    if (!model.onnx_file) {
      return unsupported_file(config_file,
                              fmt::format("'model_type' is '{}'{}", printable(type), known_architectures(type)));
    }
    LB_ASSIGN_OR_RETURN(const auto hidden, read_size(config, "hidden_size", 1, kHiddenSizeMax, config_name));
    model.hidden_size = hidden.value_or(0);
    return {};
  }
  LB_ASSIGN_OR_RETURN(model.network, std::move(network));
  model.hidden_size = model.network->hidden_size();
  const Status head = take_head(config, config_file, *architecture, modules, model);
  if (is_onnx_asked_for || (!head.ok() && !has_head(*architecture, model.kind) && model.onnx_file)) return {};
  LB_RETURN_IF_ERROR(head);
  LB_ASSIGN_OR_RETURN(const auto weights,
                      weights_file_names([&](std::string_view name) { return files.has(modules.transformer / name); },
                                         [&] { return files.read_json(index_file, kWeightsIndexLimits); },
                                         platform::path_to_utf8(index_file), model.onnx_file.has_value()));
  for (const std::string& name : weights)
    model.weights.push_back({.file = modules.transformer / name, .place = {}});
  if (!weights.empty()) std::ranges::copy(modules.weights, std::back_inserter(model.weights));
  return {};
}

Status check_task(const ConfigFile& of_transformer, const Modules& modules, const ModelFolder& model) {
  constexpr std::string_view kTerms = "fill-mask";
  constexpr std::string_view kTokens = "feature-extraction";
  const auto& [file, config] = of_transformer;
  std::string task(modules.scores_terms ? kTerms : std::string_view());
  if (config) {
    LB_ASSIGN_OR_RETURN(task, read_text(*config, "transformer_task", task, platform::path_to_utf8(file)));
  }
  const bool fits = model.kind == EncoderKind::kSparseEncoder ? task == kTerms
                    : model.kind == EncoderKind::kCrossEncoder && modules.only_network()
                        ? task.empty() || task == "sequence-classification"
                        : task.empty() || task == kTokens;
  if (fits) return {};
  return unsupported_file(file, fmt::format("'transformer_task' is '{}', which does not give what the modules need",
                                            task.empty() ? kTokens : printable(task)));
}

}  // namespace latebind::embedding
