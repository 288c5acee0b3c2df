#include "embedding/architectures/distilbert.h"

#include <fmt/format.h>

#include <string>
#include <utility>

#include "core/json_text.h"
#include "embedding/architectures/encoder.h"
#include "embedding/refusals.h"

namespace latebind::embedding {
namespace {

using core::Result;
using core::Status;
using graph::Value;
using nlohmann::json;
using std::filesystem::path;

struct DistilBertConfig {
  EncoderSizes sizes{};
  std::size_t vocabulary_size = 0;
  std::size_t position_count = 0;
};

// Below "transformer.layer.N.".
constexpr LayerNames kDistilBertNames{.query = "attention.q_lin",
                                      .key = "attention.k_lin",
                                      .value = "attention.v_lin",
                                      .attended = "attention.out_lin",
                                      .attended_norm = "sa_layer_norm",
                                      .wide = "ffn.lin1",
                                      .narrow = "ffn.lin2",
                                      .norm = "output_layer_norm"};

class DistilBertNetwork final : public Network {
 public:
  explicit DistilBertNetwork(const DistilBertConfig& config) : config_(config) {}

  [[nodiscard]] std::size_t vocabulary_size() const override { return config_.vocabulary_size; }
  [[nodiscard]] std::size_t hidden_size() const override { return config_.sizes.hidden; }
  [[nodiscard]] std::size_t tokens_max() const override { return config_.position_count; }
  [[nodiscard]] Result<graph::Graph> make_graph(const Safetensors& weights, const NetworkEnd& end) const override {
    const std::size_t hidden = config_.sizes.hidden;
    EncoderBuilder encoder(config_.sizes, weights);
    encoder.find_prefix("embeddings.word_embeddings.weight", "distilbert.");
    const auto [ids, mask] = encoder.inputs();
    LB_ASSIGN_OR_RETURN(auto words,
                        encoder.weight("embeddings.word_embeddings.weight", {config_.vocabulary_size, hidden}));
    // Sinusoidal ones are stored like any others.
    LB_ASSIGN_OR_RETURN(auto positions,
                        encoder.weight("embeddings.position_embeddings.weight", {config_.position_count, hidden}));
    graph::GraphBuilder& graph = encoder.graph();
    const Value word = graph.add(graph::Lookup{.table = std::move(words), .ids = ids});
    const Value position = graph.add(graph::PositionLookup{.table = std::move(positions), .ids = ids});
    LB_ASSIGN_OR_RETURN(
        Value x, encoder.layer_norm(graph.add(graph::Add{.a = word, .b = position}), hidden, "embeddings.LayerNorm"));
    for (std::size_t i = 0; i < config_.sizes.layers; ++i) {
      LB_ASSIGN_OR_RETURN(x, encoder.layer(x, mask, fmt::format("transformer.layer.{}.", i), kDistilBertNames));
    }
    return std::move(encoder).finish(x, mask, end);
  }

 private:
  const DistilBertConfig config_;
};

// transformers takes BERT's names for the same sizes, too: whichever it comes to last counts there.
Status refuse_second_names(const json& config, const path& file) {
  for (const auto& [key, own] : {std::pair{"hidden_size", "dim"}, std::pair{"num_attention_heads", "n_heads"},
                                 std::pair{"num_hidden_layers", "n_layers"}}) {
    if (!config.contains(key) || !config.contains(own) || config[key] == config[own]) continue;
    return unsupported_file(file, fmt::format("'{}' and '{}' differ, and mean the same", key, own));
  }
  return {};
}

}  // namespace

Result<std::shared_ptr<const Network>> read_distilbert(const json& config, const path& file) {
  LB_RETURN_IF_ERROR(refuse_variants(config, file));
  LB_RETURN_IF_ERROR(refuse_second_names(config, file));
  DistilBertConfig distilbert;
  EncoderSizes& sizes = distilbert.sizes;
  LB_RETURN_IF_ERROR(read_sizes(config, file,
                                {{"dim", kHiddenSizeMax, &sizes.hidden},
                                 {"n_layers", kLayersMax, &sizes.layers},
                                 {"n_heads", kHeadsMax, &sizes.heads},
                                 {"hidden_dim", kIntermediateMax, &sizes.intermediate},
                                 {"vocab_size", kVocabularyMax, &distilbert.vocabulary_size},
                                 {"max_position_embeddings", kTokensMax, &distilbert.position_count}}));
  LB_RETURN_IF_ERROR(check_heads(sizes, file, "dim", "n_heads"));
  LB_ASSIGN_OR_RETURN(sizes.activation, read_activation(config, "activation", file));
  return std::shared_ptr<const Network>(std::make_shared<const DistilBertNetwork>(distilbert));
}

}  // namespace latebind::embedding
