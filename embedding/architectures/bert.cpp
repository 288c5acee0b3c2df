#include "embedding/architectures/bert.h"

#include <fmt/format.h>

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "core/json/read.h"
#include "embedding/architectures/jina_bert.h"
#include "embedding/folder/known_words.h"
#include "embedding/folder/refusals.h"

namespace latebind::embedding {
namespace {

using core::Json;
using core::Result;
using core::Status;
using graph::Value;
using std::filesystem::path;

// Tensors of a layer, below "encoder.layer.N.".
constexpr LayerNames kBertNames{.query = "attention.self.query",
                                .key = "attention.self.key",
                                .value = "attention.self.value",
                                .attended = "attention.output.dense",
                                .attended_norm = "attention.output.LayerNorm",
                                .wide = "intermediate.dense",
                                .narrow = "output.dense",
                                .norm = "output.LayerNorm"};

class BertNetwork final : public EncoderNetwork {
 public:
  explicit BertNetwork(const BertConfig& config) : EncoderNetwork(config.sizes), config_(config) {}

  [[nodiscard]] Result<graph::Graph> make_graph(const ModelWeights& weights, const NetworkUse& use) const override {
    return make_bert_graph(config_, weights, use);
  }

 private:
  const BertConfig config_;
};

}  // namespace

Result<Value> bert_embedding_sum(EncoderBuilder& encoder, const BertConfig& config, Value ids, const NetworkUse& use) {
  const std::size_t width = config.embedding_size;
  LB_ASSIGN_OR_RETURN(const Value word, encoder.words(ids, width));
  LB_ASSIGN_OR_RETURN(const Value position, encoder.positions(ids, width));
  LB_ASSIGN_OR_RETURN(Value type, encoder.token_type(config.token_type_count, width));
  graph::GraphBuilder& graph = encoder.graph();
  if (config.task_type_count > 0) {
    LB_ASSIGN_OR_RETURN(auto tasks,
                        encoder.weight("embeddings.task_type_embeddings.weight", {config.task_type_count, width}));
    type = graph.add(graph::Add{.a = type, .b = graph.add(graph::RowLookup{.table = std::move(tasks), .row = 0})});
  }
  // Adds the constant terms first if all texts have the same type.
  const bool is_given = takes_token_types(config.token_type_count, use);
  const Value a = is_given ? graph.add(graph::Add{.a = word, .b = type}) : word;
  const Value b = is_given ? position : graph.add(graph::Add{.a = position, .b = type});
  return graph.add(graph::Add{.a = a, .b = b});
}

Result<Value> bert_embeddings(EncoderBuilder& encoder, const BertConfig& config, Value ids, const NetworkUse& use) {
  LB_ASSIGN_OR_RETURN(const Value sum, bert_embedding_sum(encoder, config, ids, use));
  return encoder.norm(sum, config.embedding_size, "embeddings.LayerNorm");
}

Result<BertConfig> read_bert_config(const Json& config, const path& file, std::string_view activation) {
  LB_RETURN_IF_ERROR(refuse_variants(config, file));
  BertConfig bert;
  EncoderSizes& sizes = bert.sizes;
  LB_RETURN_IF_ERROR(read_usual_sizes(config, file, sizes));
  LB_RETURN_IF_ERROR(read_sizes(config, file, {{"type_vocab_size", kTokenTypesMax, &bert.token_type_count}}));
  LB_RETURN_IF_ERROR(read_epsilon(config, "layer_norm_eps", file, sizes.epsilon));
  LB_ASSIGN_OR_RETURN(sizes.activation, read_activation(config, "hidden_act", file, activation));
  bert.embedding_size = sizes.hidden;
  return bert;
}

std::shared_ptr<const Network> make_bert_network(const BertConfig& config) {
  return std::make_shared<const BertNetwork>(config);
}

Result<std::shared_ptr<const Network>> read_bert(const Json& config, const path& file) {
  constexpr std::array<std::string_view, 2> kPositions{"absolute", "alibi"};
  LB_ASSIGN_OR_RETURN(const std::string positions, read_word(config, "position_embedding_type", file, kPositions));
  if (positions == "alibi") return read_jina_bert(config, file);
  LB_ASSIGN_OR_RETURN(const BertConfig bert, read_bert_config(config, file));
  return make_bert_network(bert);
}

Result<std::shared_ptr<const Network>> read_electra(const Json& config, const path& file) {
  LB_ASSIGN_OR_RETURN(BertConfig electra, read_bert_config(config, file));
  LB_RETURN_IF_ERROR(read_sizes(config, file, {{"embedding_size", kHiddenSizeMax, &electra.embedding_size}}));
  electra.prefix = "electra.";
  return make_bert_network(electra);
}

Result<std::shared_ptr<const Network>> read_ernie(const Json& config, const path& file) {
  LB_ASSIGN_OR_RETURN(BertConfig ernie, read_bert_config(config, file));
  LB_ASSIGN_OR_RETURN(const bool has_tasks,
                      core::read_bool(config, "use_task_id", false, platform::path_to_utf8(file)));
  if (has_tasks)
    LB_RETURN_IF_ERROR(read_sizes(config, file, {{"task_type_vocab_size", kTokenTypesMax, &ernie.task_type_count}}));
  ernie.prefix = "ernie.";
  return make_bert_network(ernie);
}

Result<graph::Graph> make_bert_graph(const BertConfig& config, const ModelWeights& weights, const NetworkUse& use) {
  EncoderBuilder encoder(config.sizes, weights, use, config.prefix);
  const auto [ids, mask] = encoder.inputs();
  LB_ASSIGN_OR_RETURN(Value x, bert_embeddings(encoder, config, ids, use));
  if (config.embedding_size != config.sizes.hidden) {
    LB_ASSIGN_OR_RETURN(x, encoder.linear(x, "embeddings_project", config.embedding_size, config.sizes.hidden));
  }
  for (std::size_t i = 0; i < config.sizes.layers; ++i) {
    if (!config.windows.empty()) encoder.set_terms({.window = static_cast<std::int64_t>(config.windows[i])});
    LB_ASSIGN_OR_RETURN(x, encoder.layer(x, mask, fmt::format("encoder.layer.{}.", i), kBertNames));
  }
  return std::move(encoder).finish(x, mask);
}

}  // namespace latebind::embedding
