#include "embedding/architectures/t5.h"

#include <fmt/format.h>

#include <string>
#include <string_view>
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

struct T5Config {
  EncoderSizes sizes{};
  bool is_gated = false;
  std::size_t buckets = 32;
  std::size_t farthest = 128;
};

class T5Network final : public EncoderNetwork {
 public:
  explicit T5Network(T5Config config) : EncoderNetwork(config.sizes), config_(config) {}

  [[nodiscard]] Result<graph::Graph> make_graph(const ModelWeights& weights, const NetworkUse& use) const override {
    EncoderBuilder encoder(sizes(), weights, use, "", words_of(weights));
    const LayerNames names{.query = "layer.0.SelfAttention.q",
                           .key = "layer.0.SelfAttention.k",
                           .value = "layer.0.SelfAttention.v",
                           .attended = "layer.0.SelfAttention.o",
                           .attended_norm = "layer.0.layer_norm",
                           .wide = config_.is_gated ? "layer.1.DenseReluDense.wi_0" : "layer.1.DenseReluDense.wi",
                           .gate = config_.is_gated ? "layer.1.DenseReluDense.wi_1" : "",
                           .narrow = "layer.1.DenseReluDense.wo",
                           .norm = "layer.1.layer_norm",
                           .query_bias = false,
                           .attended_bias = false,
                           .wide_bias = false,
                           .narrow_bias = false};
    const auto [ids, mask] = encoder.inputs();
    LB_ASSIGN_OR_RETURN(Value x, encoder.words(ids, sizes().hidden));
    LB_ASSIGN_OR_RETURN(auto distances,
                        encoder.weight("encoder.block.0.layer.0.SelfAttention.relative_attention_bias.weight",
                                       {config_.buckets, sizes().heads}));
    encoder.set_terms({.distance_bias = graph::DistanceBias{.table = std::move(distances),
                                                            .farthest = static_cast<std::int64_t>(config_.farthest)},
                       .scale = 1.0F});
    for (std::size_t i = 0; i < sizes().layers; ++i) {
      LB_ASSIGN_OR_RETURN(x, encoder.pre_norm_layer(x, mask, fmt::format("encoder.block.{}.", i), names));
    }
    LB_ASSIGN_OR_RETURN(x, encoder.norm(x, sizes().hidden, "encoder.final_layer_norm"));
    return std::move(encoder).finish(x, mask);
  }

 private:
  // Files of the encoder alone may have its name of the embeddings only.
  static std::string words_of(const ModelWeights& weights) {
    constexpr std::string_view kShared = "shared.weight";
    return std::string(weights.contains(std::string(kShared)) ? kShared : "encoder.embed_tokens.weight");
  }

  const T5Config config_;
};

// `feed_forward_proj` is the name of an activation, with "gated-" before it if there is a gate.
Status read_feed_forward(const Json& config, const path& file, std::string_view otherwise, T5Config& t5) {
  constexpr std::string_view kGated = "gated-";
  LB_ASSIGN_OR_RETURN(std::string given,
                      core::read_text(config, "feed_forward_proj", otherwise, platform::path_to_utf8(file)));
  t5.is_gated = given.starts_with(kGated);
  if (t5.is_gated) given.erase(0, kGated.size());
  // By definition, the gated one is the approximation.
  if (t5.is_gated && given == "gelu") given = "gelu_new";
  const Json activation = {{"feed_forward_proj", given}};
  LB_ASSIGN_OR_RETURN(t5.sizes.activation, read_activation(activation, "feed_forward_proj", file));
  return {};
}

Result<std::shared_ptr<const Network>> read(const Json& config, const path& file, std::string_view feed_forward) {
  const std::string name = platform::path_to_utf8(file);
  LB_ASSIGN_OR_RETURN(const bool is_decoder, core::read_bool(config, "is_decoder", false, name));
  if (is_decoder) return unsupported_file(file, "'is_decoder' is true: only encoders are supported");
  LB_RETURN_IF_ERROR(expect(config, file, "is_causal", false));
  LB_RETURN_IF_ERROR(refuse_changed_layers(config, file));
  T5Config t5;
  EncoderSizes& sizes = t5.sizes;
  LB_RETURN_IF_ERROR(read_sizes(config, file,
                                {{"d_model", kHiddenSizeMax, &sizes.hidden},
                                 {"num_layers", kLayersMax, &sizes.layers},
                                 {"num_heads", kHeadsMax, &sizes.heads},
                                 {"d_kv", kHiddenSizeMax, &sizes.head_width},
                                 {"d_ff", kIntermediateMax, &sizes.intermediate},
                                 {"vocab_size", kVocabularyMax, &sizes.vocabulary}}));
  // Distances are unlimited.
  sizes.positions = kTokensMax;
  sizes.norm = NormKind::kRms;
  sizes.epsilon = 1e-6F;
  LB_RETURN_IF_ERROR(read_epsilon(config, "layer_norm_epsilon", file, sizes.epsilon));
  LB_RETURN_IF_ERROR(read_feed_forward(config, file, feed_forward, t5));
  LB_ASSIGN_OR_RETURN(const auto buckets,
                      core::read_size(config, "relative_attention_num_buckets", 4, kVocabularyMax, name));
  LB_ASSIGN_OR_RETURN(const auto farthest,
                      core::read_size(config, "relative_attention_max_distance", 2, kTokensMax, name));
  t5.buckets = buckets.value_or(t5.buckets);
  t5.farthest = farthest.value_or(t5.farthest);
  if (t5.buckets % 4 != 0 || t5.farthest <= t5.buckets / 4) {
    return unsupported_file(file,
                            fmt::format("'relative_attention_num_buckets' is {}, which is not a multiple of 4 below "
                                        "four times 'relative_attention_max_distance' {}",
                                        t5.buckets, t5.farthest));
  }
  return std::shared_ptr<const Network>(std::make_shared<const T5Network>(t5));
}

}  // namespace

Result<std::shared_ptr<const Network>> read_t5(const Json& config, const path& file) {
  return read(config, file, "relu");
}

Result<std::shared_ptr<const Network>> read_mt5(const Json& config, const path& file) {
  return read(config, file, "gated-gelu");
}

}  // namespace latebind::embedding
