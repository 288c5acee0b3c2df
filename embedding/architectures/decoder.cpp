#include "embedding/architectures/decoder.h"

#include <fmt/format.h>

#include "core/json/read.h"
#include "embedding/folder/refusals.h"

namespace latebind::embedding {

using core::Json;
using core::Result;
using std::filesystem::path;

Result<DecoderConfig> read_decoder(const Json& config, const path& file) {
  LB_RETURN_IF_ERROR(refuse_variants_of_all(config, file, "absolute"));
  DecoderConfig decoder;
  EncoderSizes& sizes = decoder.sizes;
  LB_RETURN_IF_ERROR(read_sizes(config, file,
                                {{"hidden_size", kHiddenSizeMax, &sizes.hidden},
                                 {"num_hidden_layers", kLayersMax, &sizes.layers},
                                 {"num_attention_heads", kHeadsMax, &sizes.heads},
                                 {"num_key_value_heads", kHeadsMax, &sizes.key_heads},
                                 {"head_dim", kHiddenSizeMax, &sizes.head_width},
                                 {"intermediate_size", kIntermediateMax, &sizes.intermediate},
                                 {"vocab_size", kVocabularyMax, &sizes.vocabulary},
                                 {"max_position_embeddings", kTokensMax, &sizes.positions}}));
  if (sizes.heads % sizes.key_heads != 0) {
    return invalid_file(file, fmt::format("'num_attention_heads' {} is not a multiple of 'num_key_value_heads' {}",
                                          sizes.heads, sizes.key_heads));
  }
  sizes.norm = NormKind::kRms;
  sizes.epsilon = 1e-6F;
  LB_RETURN_IF_ERROR(read_epsilon(config, "rms_norm_eps", file, sizes.epsilon));
  LB_ASSIGN_OR_RETURN(decoder.attention_bias,
                      core::read_bool(config, "attention_bias", false, platform::path_to_utf8(file)));
  if (const auto causal = config.find("is_causal"); causal != nullptr) {
    if (!causal->is_boolean()) {
      return invalid_file(file,
                          fmt::format("'is_causal' is {}; it must be true or false", core::printable_json(*causal)));
    }
    decoder.causal = causal->get<bool>();
  }
  return decoder;
}

LayerNames decoder_names(const DecoderConfig& config) {
  return {.query = "self_attn.q_proj",
          .key = "self_attn.k_proj",
          .value = "self_attn.v_proj",
          .query_norm = "self_attn.q_norm",
          .key_norm = "self_attn.k_norm",
          .attended = "self_attn.o_proj",
          .attended_norm = "input_layernorm",
          .wide = "mlp.gate_proj",
          .gate = "mlp.up_proj",
          .narrow = "mlp.down_proj",
          .norm = "post_attention_layernorm",
          .query_bias = config.attention_bias,
          .attended_bias = config.attention_bias,
          .wide_bias = false,
          .narrow_bias = false};
}

}  // namespace latebind::embedding
