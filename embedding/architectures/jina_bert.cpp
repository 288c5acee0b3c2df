#include "embedding/architectures/jina_bert.h"

#include <bit>
#include <cmath>
#include <utility>
#include <vector>

#include "embedding/architectures/encoder.h"

namespace latebind::embedding {
namespace {

using core::Result;
using graph::Value;
using nlohmann::json;
using std::filesystem::path;

// Below "encoder.layer.N.".
constexpr LayerNames kJinaNames{.query = "attention.self.query",
                                .key = "attention.self.key",
                                .value = "attention.self.value",
                                .attended = "attention.output.dense",
                                .attended_norm = "attention.output.LayerNorm",
                                .wide_and_gate = "mlp.gated_layers",
                                .narrow = "mlp.wo",
                                .norm = "mlp.layernorm",
                                .wide_bias = false};

struct JinaBertConfig {
  EncoderSizes sizes{};
  std::size_t token_type_count = 0;
};

// Of ALiBi, for each head: 2^(-8/n), its square and so on for n heads where n is a power of two; else those for the
// next lower one, and then every other one of those for twice as many.
std::vector<float> alibi_slopes(std::size_t heads) {
  const std::size_t power = std::bit_floor(heads);
  std::vector<float> slopes;
  for (std::size_t i = 0; i < heads; ++i) {
    const double exponent = i < power ? 8.0 * static_cast<double>(i + 1) / static_cast<double>(power)
                                      : 4.0 * static_cast<double>(2 * (i - power) + 1) / static_cast<double>(power);
    slopes.push_back(static_cast<float>(std::exp2(-exponent)));
  }
  return slopes;
}

class JinaBertNetwork final : public EncoderNetwork {
 public:
  explicit JinaBertNetwork(const JinaBertConfig& config) : EncoderNetwork(config.sizes), config_(config) {}

  [[nodiscard]] Result<graph::Graph> make_graph(const ModelWeights& weights, const NetworkEnd& end) const override {
    const std::size_t hidden = sizes().hidden;
    EncoderBuilder encoder(sizes(), weights, "bert.");
    encoder.set_terms({.linear_bias = graph::LinearBias{.slopes = alibi_slopes(sizes().heads),
                                                        .positions = static_cast<std::int64_t>(sizes().positions)}});
    const auto [ids, mask] = encoder.inputs();
    LB_ASSIGN_OR_RETURN(const Value word, encoder.words(ids, hidden));
    LB_ASSIGN_OR_RETURN(const Value type, encoder.token_type(config_.token_type_count, hidden));
    const Value sum = encoder.graph().add(graph::Add{.a = word, .b = type});
    LB_ASSIGN_OR_RETURN(Value x, encoder.norm(sum, hidden, "embeddings.LayerNorm"));
    LB_ASSIGN_OR_RETURN(x, encoder.layers(x, mask, "encoder.layer.", kJinaNames));
    return std::move(encoder).finish(x, mask, end);
  }

 private:
  const JinaBertConfig config_;
};

}  // namespace

Result<std::shared_ptr<const Network>> read_jina_bert(const json& config, const path& file) {
  LB_RETURN_IF_ERROR(refuse_variants(config, file, "alibi"));
  JinaBertConfig jina;
  LB_RETURN_IF_ERROR(read_usual_sizes(config, file, jina.sizes));
  LB_RETURN_IF_ERROR(read_sizes(config, file, {{"type_vocab_size", kTokenTypesMax, &jina.token_type_count}}));
  LB_RETURN_IF_ERROR(read_epsilon(config, "layer_norm_eps", file, jina.sizes.epsilon));
  // It has the activation, whatever `hidden_act` says.
  LB_RETURN_IF_ERROR(expect(config, file, "feed_forward_type", "geglu"));
  return std::shared_ptr<const Network>(std::make_shared<const JinaBertNetwork>(jina));
}

}  // namespace latebind::embedding
