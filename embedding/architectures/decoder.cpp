#include "embedding/architectures/decoder.h"

#include <fmt/format.h>

#include <string>
#include <utility>

#include "core/json/read.h"
#include "embedding/architectures/rotary.h"
#include "embedding/folder/refusals.h"

namespace latebind::embedding {

using core::Json;
using core::Result;
using core::Status;
using graph::Value;
using std::filesystem::path;

namespace {

class PlainDecoderNetwork final : public EncoderNetwork {
 public:
  explicit PlainDecoderNetwork(PlainDecoder decoder)
      : EncoderNetwork(decoder.config.sizes), decoder_(std::move(decoder)) {}

  [[nodiscard]] Result<graph::Graph> make_graph(const ModelWeights& weights, const NetworkUse& use) const override {
    EncoderBuilder encoder(sizes(), weights, use, kDecoderPrefix, kDecoderWords);
    LayerNames names = decoder_names(decoder_.config);
    if (decoder_.has_end_norms) add_end_norms(names);
    const auto [ids, mask] = encoder.inputs();
    LB_ASSIGN_OR_RETURN(Value x, encoder.words(ids, sizes().hidden));
    if (decoder_.word_scale) x = encoder.graph().add(graph::Scale{.x = x, .factor = *decoder_.word_scale});
    for (std::size_t i = 0; i < sizes().layers; ++i) {
      AttentionTerms terms{.rotary = decoder_.rotary,
                           .soft_cap = decoder_.soft_cap,
                           .causal = decoder_.config.causal,
                           .scale = decoder_.scale};
      if (!decoder_.windows.empty() && decoder_.windows[i])
        terms.window = static_cast<std::int64_t>(*decoder_.windows[i]);
      encoder.set_terms(std::move(terms));
      LB_ASSIGN_OR_RETURN(x, encoder.pre_norm_layer(x, mask, fmt::format("layers.{}.", i), names));
    }
    LB_ASSIGN_OR_RETURN(x, encoder.norm(x, sizes().hidden, "norm"));
    return std::move(encoder).finish(x, mask);
  }

 private:
  const PlainDecoder decoder_;
};

// Sizes that some files leave to the others.
Status read_head_sizes(const Json& config, const path& file, HeadKeys keys, EncoderSizes& sizes) {
  const std::string name = platform::path_to_utf8(file);
  LB_ASSIGN_OR_RETURN(const auto key_heads, core::read_size(config, "num_key_value_heads", 1, kHeadsMax, name));
  LB_ASSIGN_OR_RETURN(const auto width, core::read_size(config, "head_dim", 1, kHiddenSizeMax, name));
  if (!key_heads && keys != HeadKeys::kBoth) return invalid_file(file, "'num_key_value_heads' is missing");
  if (!width && keys == HeadKeys::kRequired) return invalid_file(file, "'head_dim' is missing");
  if (!width) LB_RETURN_IF_ERROR(check_heads(sizes, file, "hidden_size", "num_attention_heads"));
  sizes.key_heads = key_heads.value_or(sizes.heads);
  sizes.head_width = width.value_or(sizes.hidden / sizes.heads);
  if (sizes.heads % sizes.key_heads == 0) return {};
  return invalid_file(file, fmt::format("'num_attention_heads' {} is not a multiple of 'num_key_value_heads' {}",
                                        sizes.heads, sizes.key_heads));
}

}  // namespace

Result<DecoderConfig> read_decoder(const Json& config, const path& file, HeadKeys keys) {
  LB_RETURN_IF_ERROR(refuse_variants_of_all(config, file, "absolute"));
  DecoderConfig decoder;
  EncoderSizes& sizes = decoder.sizes;
  LB_RETURN_IF_ERROR(read_sizes(config, file,
                                {{"hidden_size", kHiddenSizeMax, &sizes.hidden},
                                 {"num_hidden_layers", kLayersMax, &sizes.layers},
                                 {"num_attention_heads", kHeadsMax, &sizes.heads},
                                 {"intermediate_size", kIntermediateMax, &sizes.intermediate},
                                 {"vocab_size", kVocabularyMax, &sizes.vocabulary},
                                 {"max_position_embeddings", kTokensMax, &sizes.positions}}));
  LB_RETURN_IF_ERROR(read_head_sizes(config, file, keys, sizes));
  sizes.norm = NormKind::kRms;
  sizes.epsilon = 1e-6F;
  LB_RETURN_IF_ERROR(read_epsilon(config, "rms_norm_eps", file, sizes.epsilon));
  LB_ASSIGN_OR_RETURN(decoder.query_bias,
                      core::read_bool(config, "attention_bias", false, platform::path_to_utf8(file)));
  decoder.attended_bias = decoder.query_bias;
  return decoder;
}

Result<bool> read_causal(const Json& config, const path& file) {
  const auto causal = config.find("is_causal");
  if (causal == nullptr) return true;
  if (causal->is_boolean()) return causal->get<bool>();
  return invalid_file(file, fmt::format("'is_causal' is {}; it must be true or false", core::printable_json(*causal)));
}

LayerNames decoder_names(const DecoderConfig& config) {
  return {.query = "self_attn.q_proj",
          .key = "self_attn.k_proj",
          .value = "self_attn.v_proj",
          .query_norm = config.has_head_norms ? "self_attn.q_norm" : "",
          .key_norm = config.has_head_norms ? "self_attn.k_norm" : "",
          .attended = "self_attn.o_proj",
          .attended_norm = "input_layernorm",
          .wide = "mlp.gate_proj",
          .gate = "mlp.up_proj",
          .narrow = "mlp.down_proj",
          .norm = "post_attention_layernorm",
          .query_bias = config.query_bias,
          .attended_bias = config.attended_bias,
          .wide_bias = config.mlp_bias,
          .narrow_bias = config.mlp_bias};
}

void add_end_norms(LayerNames& names) {
  names.attended_end = "post_attention_layernorm";
  names.norm = "pre_feedforward_layernorm";
  names.narrow_end = "post_feedforward_layernorm";
}

std::shared_ptr<const Network> make_plain_decoder(PlainDecoder decoder) {
  return std::make_shared<const PlainDecoderNetwork>(std::move(decoder));
}

Result<PlainDecoder> read_plain_decoder(const Json& config, const path& file, HeadKeys keys) {
  constexpr double kBase = 10000;
  PlainDecoder decoder;
  LB_ASSIGN_OR_RETURN(decoder.config, read_decoder(config, file, keys));
  EncoderSizes& sizes = decoder.config.sizes;
  LB_ASSIGN_OR_RETURN(sizes.activation, read_activation(config, "hidden_act", file, "silu"));
  LB_ASSIGN_OR_RETURN(decoder.rotary, read_rotary(config, file, rotary_heads_of(sizes), kBase));
  return decoder;
}

Result<std::optional<std::size_t>> read_causal_window(const Json& config, const path& file) {
  LB_ASSIGN_OR_RETURN(const auto given,
                      core::read_size(config, "sliding_window", 2, kTokensMax, platform::path_to_utf8(file)));
  if (!given) return std::optional<std::size_t>();
  return std::optional<std::size_t>(*given - 1);
}

}  // namespace latebind::embedding
