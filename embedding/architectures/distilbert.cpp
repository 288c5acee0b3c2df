#include "embedding/architectures/distilbert.h"

#include <fmt/format.h>

#include <string>
#include <utility>

#include "core/json/read.h"
#include "embedding/architectures/encoder.h"
#include "embedding/folder/refusals.h"

namespace latebind::embedding {
namespace {

using core::Json;
using core::Result;
using core::Status;
using graph::Value;
using std::filesystem::path;

// Below "transformer.layer.N.".
constexpr LayerNames kDistilBertNames{.query = "attention.q_lin",
                                      .key = "attention.k_lin",
                                      .value = "attention.v_lin",
                                      .attended = "attention.out_lin",
                                      .attended_norm = "sa_layer_norm",
                                      .wide = "ffn.lin1",
                                      .narrow = "ffn.lin2",
                                      .norm = "output_layer_norm"};

class DistilBertNetwork final : public EncoderNetwork {
 public:
  using EncoderNetwork::EncoderNetwork;

  [[nodiscard]] Result<graph::Graph> make_graph(const ModelWeights& weights, const NetworkUse& use) const override {
    EncoderBuilder encoder(sizes(), weights, use, "distilbert.");
    const auto [ids, mask] = encoder.inputs();
    // Sinusoidal positions are stored like learned ones.
    LB_ASSIGN_OR_RETURN(const Value word, encoder.words(ids, sizes().hidden));
    LB_ASSIGN_OR_RETURN(const Value position, encoder.positions(ids, sizes().hidden));
    const Value sum = encoder.graph().add(graph::Add{.a = word, .b = position});
    LB_ASSIGN_OR_RETURN(Value x, encoder.norm(sum, sizes().hidden, "embeddings.LayerNorm"));
    LB_ASSIGN_OR_RETURN(x, encoder.layers(x, mask, "transformer.layer.", kDistilBertNames));
    return std::move(encoder).finish(x, mask);
  }
};

// transformers also accepts BERT's names for these sizes, and the last one in the file wins.
Status refuse_second_names(const Json& config, const path& file) {
  for (const auto& [key, own] : {std::pair{"hidden_size", "dim"}, std::pair{"num_attention_heads", "n_heads"},
                                 std::pair{"num_hidden_layers", "n_layers"}}) {
    if (!config.contains(key) || !config.contains(own) || config[key] == config[own]) continue;
    return unsupported_file(file, fmt::format("'{}' and '{}' mean the same, but differ", key, own));
  }
  return {};
}

}  // namespace

Result<std::shared_ptr<const Network>> read_distilbert(const Json& config, const path& file) {
  LB_RETURN_IF_ERROR(refuse_variants(config, file));
  LB_RETURN_IF_ERROR(refuse_second_names(config, file));
  EncoderSizes sizes;
  LB_RETURN_IF_ERROR(read_sizes(config, file,
                                {{"dim", kHiddenSizeMax, &sizes.hidden},
                                 {"n_layers", kLayersMax, &sizes.layers},
                                 {"n_heads", kHeadsMax, &sizes.heads},
                                 {"hidden_dim", kIntermediateMax, &sizes.intermediate},
                                 {"vocab_size", kVocabularyMax, &sizes.vocabulary},
                                 {"max_position_embeddings", kTokensMax, &sizes.positions}}));
  LB_RETURN_IF_ERROR(check_heads(sizes, file, "dim", "n_heads"));
  LB_ASSIGN_OR_RETURN(sizes.activation, read_activation(config, "activation", file));
  return std::shared_ptr<const Network>(std::make_shared<const DistilBertNetwork>(sizes));
}

}  // namespace latebind::embedding
