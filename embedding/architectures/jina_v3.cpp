#include "embedding/architectures/jina_v3.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/json/read.h"
#include "core/platform/files/folders.h"
#include "core/text/nearest_word.h"
#include "core/text/quote.h"
#include "embedding/architectures/encoder.h"
#include "embedding/architectures/rotary.h"
#include "embedding/folder/config_files.h"
#include "embedding/folder/refusals.h"
#include "embedding/weights/adapters/task_weights.h"

namespace latebind::embedding {
namespace {

using core::Json;
using core::printable;
using core::Result;
using core::Status;
using graph::Value;
using std::filesystem::path;

constexpr double kBase = 20000;
constexpr std::size_t kTasksMax = 64;
constexpr std::size_t kRankMax = 1024;
constexpr std::string_view kClassWithTasks = "XLMRobertaLoRA";
constexpr std::array<std::string_view, 5> kKeysOfTasks{"lora_adaptations", "lora_alpha", "lora_dropout_p",
                                                       "lora_main_params_trainable", "lora_rank"};

struct JinaV3Config {
  EncoderSizes sizes{};
  std::size_t token_type_count = 0;
  graph::Rotary rotary{};
  std::vector<std::string> tasks{};
  StackedTasks stacked{};
};

class JinaV3Network final : public EncoderNetwork {
 public:
  explicit JinaV3Network(JinaV3Config config) : EncoderNetwork(config.sizes), config_(std::move(config)) {}

  [[nodiscard]] std::span<const std::string> tasks() const override { return config_.tasks; }

  [[nodiscard]] Result<graph::Graph> make_graph(const ModelWeights& given, const NetworkUse& use) const override {
    ModelWeights weights = given;
    LB_RETURN_IF_ERROR(config_.tasks.empty() ? refuse_stacked_tasks(weights)
                                             : add_stacked_tasks(config_.stacked, weights));
    const std::size_t hidden = sizes().hidden;
    EncoderBuilder encoder(sizes(), weights, use, "roberta.");
    encoder.set_terms({.rotary = config_.rotary});
    const auto [ids, mask] = encoder.inputs();
    LB_ASSIGN_OR_RETURN(const Value words, encoder.words(ids, hidden));
    LB_ASSIGN_OR_RETURN(const Value type, encoder.token_type(config_.token_type_count, hidden));
    Value x = encoder.graph().add(graph::Add{.a = words, .b = type});
    LB_ASSIGN_OR_RETURN(x, encoder.norm(x, hidden, "emb_ln"));
    LB_ASSIGN_OR_RETURN(x, encoder.layers(x, mask, "encoder.layers.", kJinaRobertaNames));
    return std::move(encoder).finish(x, mask);
  }

 private:
  const JinaV3Config config_;
};

// Refuses keys of low-rank parts that the reference does not have, which may be misspelt.
Status check_keys(const Json& config, const path& file) {
  for (const auto& [key, value] : config.members()) {
    if (!key.starts_with("lora_") || std::ranges::find(kKeysOfTasks, key) != kKeysOfTasks.end()) continue;
    return unsupported_file(
        file, fmt::format("'{}' is not supported{}", printable(key), core::supported_instead(key, kKeysOfTasks)));
  }
  return {};
}

// The reference has an instruction for each task. Older files have none at all.
Status check_instructions(const Json& config, const path& file, const std::vector<std::string>& tasks) {
  constexpr const char* kKey = "task_instructions";
  const Json* const found = core::find_member(config, kKey);
  if (found == nullptr) return {};
  if (!found->is_object())
    return invalid_file(file, fmt::format("'{}' must be an object of texts by their tasks", kKey));
  for (const auto& [task, text] : found->members()) {
    if (std::ranges::find(tasks, task) == tasks.end()) {
      return invalid_file(file,
                          fmt::format("'{}' has '{}', which is not among 'lora_adaptations'", kKey, printable(task)));
    }
    if (!text.is_string()) {
      return invalid_file(file, fmt::format("'{}' has {} for '{}', which must be a text", kKey,
                                            core::printable_json(text), printable(task)));
    }
  }
  for (const std::string& task : tasks) {
    if (!found->contains(task)) return invalid_file(file, fmt::format("'{}' has no '{}'", kKey, printable(task)));
  }
  return {};
}

// Reads the tasks, which published files have and files of transformers lack.
Status read_tasks(const Json& config, const path& file, JinaV3Config& jina) {
  const std::string name = platform::path_to_utf8(file);
  LB_RETURN_IF_ERROR(check_keys(config, file));
  LB_ASSIGN_OR_RETURN(auto tasks, core::read_texts(config, "lora_adaptations", name));
  if (!tasks) {
    if (network_class(config) == kClassWithTasks)
      return invalid_file(file, fmt::format("'lora_adaptations' is missing, and the class is {}", kClassWithTasks));
    return {};
  }
  if (tasks->empty() || tasks->size() > kTasksMax)
    return invalid_file(file, fmt::format("'lora_adaptations' must be a list of 1 to {} names", kTasksMax));
  jina.tasks = *std::move(tasks);
  for (auto task = jina.tasks.begin(); task != jina.tasks.end(); ++task) {
    if (std::find(jina.tasks.begin(), task, *task) != task)
      return invalid_file(file, fmt::format("'lora_adaptations' has '{}' twice", printable(*task)));
  }
  LB_RETURN_IF_ERROR(check_instructions(config, file, jina.tasks));
  LB_ASSIGN_OR_RETURN(const auto rank, core::read_size(config, "lora_rank", 1, kRankMax, name));
  if (!rank) return invalid_file(file, "'lora_rank' is missing");
  const Json* const alpha = core::find_member(config, "lora_alpha");
  const double number = alpha == nullptr ? 1 : alpha->is_number() ? alpha->get<double>() : 0;
  if (!(number > 0 && number <= 1e6))
    return invalid_file(file,
                        fmt::format("'lora_alpha' is {}, must be a number above 0", core::printable_json(*alpha)));
  jina.stacked = {
      .tasks = jina.tasks.size(), .rank = *rank, .scale = static_cast<float>(number / static_cast<double>(*rank))};
  return expect(config, file, "load_trained_adapters", true);
}

}  // namespace

Result<std::shared_ptr<const Network>> read_jina_v3(const Json& config, const path& file) {
  LB_RETURN_IF_ERROR(refuse_variants(config, file, "rotary"));
  JinaV3Config jina;
  LB_RETURN_IF_ERROR(read_usual_sizes(config, file, jina.sizes));
  LB_RETURN_IF_ERROR(read_sizes(config, file, {{"type_vocab_size", kTokenTypesMax, &jina.token_type_count}}));
  LB_RETURN_IF_ERROR(read_epsilon(config, "layer_norm_eps", file, jina.sizes.epsilon));
  LB_ASSIGN_OR_RETURN(jina.sizes.activation, read_activation(config, "hidden_act", file));
  for (const char* key : {"rotary_emb_interleaved", "use_reg_tokens"})
    LB_RETURN_IF_ERROR(expect(config, file, key, false));
  for (const char* key : {"rotary_emb_scale_base", "emb_pooler", "num_loras", "truncate_dim"})
    LB_RETURN_IF_ERROR(expect(config, file, key, nullptr));
  const RotaryHeads heads = rotary_heads_of(jina.sizes);
  LB_RETURN_IF_ERROR(expect(config, file, "rotary_emb_dim", heads.width));
  LB_ASSIGN_OR_RETURN(const double base, read_rotary_base(config, "rotary_emb_base", kBase, file));
  LB_ASSIGN_OR_RETURN(jina.rotary, read_rotary(config, file, heads, base));
  LB_RETURN_IF_ERROR(read_tasks(config, file, jina));
  return std::shared_ptr<const Network>(std::make_shared<const JinaV3Network>(std::move(jina)));
}

}  // namespace latebind::embedding
