#include "embedding/architectures/gemma3.h"

#include <fmt/format.h>

#include <cmath>
#include <utility>

#include "core/json/read.h"
#include "embedding/architectures/decoder.h"
#include "embedding/architectures/layer_kinds.h"
#include "embedding/folder/refusals.h"

namespace latebind::embedding {
namespace {

using core::Json;
using core::Result;
using graph::Value;
using std::filesystem::path;

struct Gemma3Config {
  DecoderConfig decoder{};
  LayerKinds kinds{};
  float scale = 0;  // of attention
};

class Gemma3Network final : public EncoderNetwork {
 public:
  explicit Gemma3Network(Gemma3Config config) : EncoderNetwork(config.decoder.sizes), config_(std::move(config)) {}

  [[nodiscard]] Result<graph::Graph> make_graph(const ModelWeights& weights, const NetworkUse& use) const override {
    const std::size_t hidden = sizes().hidden;
    EncoderBuilder encoder(sizes(), weights, use, kDecoderPrefix, kDecoderWords);
    LayerNames names = decoder_names(config_.decoder);
    add_end_norms(names);
    const auto [ids, mask] = encoder.inputs();
    LB_ASSIGN_OR_RETURN(Value x, encoder.words(ids, hidden));
    x = encoder.graph().add(graph::Scale{.x = x, .factor = std::sqrt(static_cast<float>(hidden))});
    for (std::size_t i = 0; i < sizes().layers; ++i) {
      AttentionTerms terms = config_.kinds.terms_of(i);
      terms.scale = config_.scale;
      encoder.set_terms(std::move(terms));
      LB_ASSIGN_OR_RETURN(x, encoder.pre_norm_layer(x, mask, fmt::format("layers.{}.", i), names));
    }
    LB_ASSIGN_OR_RETURN(x, encoder.norm(x, hidden, "norm"));
    return std::move(encoder).finish(x, mask);
  }

 private:
  const Gemma3Config config_;
};

}  // namespace

Result<std::shared_ptr<const Network>> read_gemma3(const Json& config, const path& file) {
  const std::string name = platform::path_to_utf8(file);
  LB_ASSIGN_OR_RETURN(const bool is_encoder, core::read_bool(config, "use_bidirectional_attention", false, name));
  if (!is_encoder) {
    return unsupported_file(file, "'use_bidirectional_attention' is not true: only Gemma 3 encoders are supported");
  }
  LB_RETURN_IF_ERROR(expect(config, file, "attn_logit_softcapping", nullptr));
  Gemma3Config gemma;
  LB_ASSIGN_OR_RETURN(gemma.decoder, read_decoder(config, file));
  LB_ASSIGN_OR_RETURN(const bool is_causal, read_causal(config, file));
  if (!is_causal) {
    // The model is already bidirectional; with this key, transformers widens the windows by one.
    return unsupported_file(file, "'is_causal' is false beside 'use_bidirectional_attention', which is not supported");
  }
  gemma.decoder.has_head_norms = true;
  EncoderSizes& sizes = gemma.decoder.sizes;
  sizes.norm = NormKind::kRmsPlusOne;
  LB_ASSIGN_OR_RETURN(sizes.activation, read_activation(config, "hidden_activation", file, "gelu_pytorch_tanh"));
  LB_ASSIGN_OR_RETURN(const auto scalar, core::read_size(config, "query_pre_attn_scalar", 1, kHiddenSizeMax, name));
  gemma.scale = 1.0F / std::sqrt(static_cast<float>(scalar.value_or(256)));
  LB_ASSIGN_OR_RETURN(const auto window, core::read_size(config, "sliding_window", 2, kTokensMax, name));
  gemma.kinds.window = window.value_or(4096) / 2;
  constexpr OldLayerKeys kOld{.pattern = "sliding_window_pattern",
                              .pattern_otherwise = 6,
                              .base = "rope_theta",
                              .base_otherwise = 1000000,
                              .local_base = "rope_local_base_freq"};
  LB_RETURN_IF_ERROR(read_layer_kinds(config, file, sizes, kOld, gemma.kinds));
  return std::shared_ptr<const Network>(std::make_shared<const Gemma3Network>(std::move(gemma)));
}

}  // namespace latebind::embedding
