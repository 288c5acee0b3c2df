#include "embedding/architectures/modernbert.h"

#include <fmt/format.h>

#include <string>
#include <utility>

#include "core/json/read.h"
#include "core/platform/files/folders.h"

namespace latebind::embedding {
namespace {

using core::Json;
using core::Result;
using graph::Value;
using std::filesystem::path;

class ModernBertNetwork final : public EncoderNetwork {
 public:
  ModernBertNetwork(ModernBertConfig config, const LayerNames& names)
      : EncoderNetwork(config.sizes), config_(std::move(config)), names_(names) {}

  [[nodiscard]] Result<graph::Graph> make_graph(const ModelWeights& weights, const NetworkUse& use) const override {
    EncoderBuilder encoder(sizes(), weights, use, "model.", "embeddings.tok_embeddings.weight");
    const auto [ids, mask] = encoder.inputs();
    LB_ASSIGN_OR_RETURN(Value x, encoder.words(ids, sizes().hidden));
    LB_ASSIGN_OR_RETURN(x, encoder.norm(x, sizes().hidden, "embeddings.norm"));
    LayerNames names = names_;
    names.wide_and_gate = "mlp.Wi";
    names.narrow = "mlp.Wo";
    names.norm = "mlp_norm";
    names.query_bias = names.attended_bias = config_.attention_bias;
    names.wide_bias = names.narrow_bias = config_.mlp_bias;
    for (std::size_t i = 0; i < sizes().layers; ++i) {
      // In the first layer, the norm of the embeddings takes its place.
      if (i > 0) names.attended_norm = "attn_norm";
      AttentionTerms terms = config_.kinds.terms_of(i);
      terms.causal = config_.causal;
      encoder.set_terms(std::move(terms));
      LB_ASSIGN_OR_RETURN(x, encoder.pre_norm_layer(x, mask, fmt::format("layers.{}.", i), names));
    }
    LB_ASSIGN_OR_RETURN(x, encoder.norm(x, sizes().hidden, "final_norm"));
    return std::move(encoder).finish(x, mask);
  }

 private:
  const ModernBertConfig config_;
  const LayerNames names_;
};

// Returns the window on each side. `sliding_window` is another name in transformers, which counts one side and takes
// precedence.
Result<std::size_t> read_window(const Json& config, const path& file) {
  const std::string name = platform::path_to_utf8(file);
  LB_ASSIGN_OR_RETURN(const auto both_sides, core::read_size(config, "local_attention", 2, kTokensMax, name));
  LB_ASSIGN_OR_RETURN(const auto one_side, core::read_size(config, "sliding_window", 1, kTokensMax, name));
  return one_side.value_or(both_sides.value_or(128) / 2);
}

}  // namespace

std::shared_ptr<const Network> make_modernbert(ModernBertConfig config, const LayerNames& names) {
  return std::make_shared<const ModernBertNetwork>(std::move(config), names);
}

Result<ModernBertConfig> read_modernbert_config(const Json& config, const path& file) {
  const std::string name = platform::path_to_utf8(file);
  ModernBertConfig modern;
  EncoderSizes& sizes = modern.sizes;
  LB_RETURN_IF_ERROR(read_usual_sizes(config, file, sizes));
  sizes.epsilon = 1e-5F;
  LB_RETURN_IF_ERROR(read_epsilon(config, "norm_eps", file, sizes.epsilon));
  LB_ASSIGN_OR_RETURN(sizes.activation, read_activation(config, "hidden_activation", file));
  LB_ASSIGN_OR_RETURN(const bool norm_bias, core::read_bool(config, "norm_bias", false, name));
  if (!norm_bias) sizes.norm = NormKind::kLayerWithoutBias;
  LB_ASSIGN_OR_RETURN(modern.attention_bias, core::read_bool(config, "attention_bias", false, name));
  LB_ASSIGN_OR_RETURN(modern.mlp_bias, core::read_bool(config, "mlp_bias", false, name));
  constexpr OldLayerKeys kOld{.pattern = "global_attn_every_n_layers",
                              .pattern_otherwise = 3,
                              .is_first_global = true,
                              .base = "global_rope_theta",
                              .base_otherwise = 160000,
                              .local_base = "local_rope_theta",
                              .scales_local = true};
  LB_RETURN_IF_ERROR(read_layer_kinds(config, file, sizes, kOld, modern.kinds));
  return modern;
}

Result<std::shared_ptr<const Network>> read_modernbert(const Json& config, const path& file) {
  LB_RETURN_IF_ERROR(refuse_variants(config, file));
  LB_ASSIGN_OR_RETURN(ModernBertConfig modern, read_modernbert_config(config, file));
  LB_ASSIGN_OR_RETURN(modern.kinds.window, read_window(config, file));
  return make_modernbert(std::move(modern), {.query_key_value = "attn.Wqkv", .attended = "attn.Wo"});
}

}  // namespace latebind::embedding
