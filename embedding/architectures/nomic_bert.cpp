#include "embedding/architectures/nomic_bert.h"

#include <utility>

#include "embedding/architectures/encoder.h"
#include "embedding/architectures/rotary.h"
#include "embedding/folder/refusals.h"

namespace latebind::embedding {
namespace {

using core::Json;
using core::Result;
using core::Status;
using std::filesystem::path;

// Below "encoder.layers.N.".
constexpr LayerNames kNomicNames{.query_key_value = "attn.Wqkv",
                                 .attended = "attn.out_proj",
                                 .attended_norm = "norm1",
                                 .wide = "mlp.fc12",
                                 .gate = "mlp.fc11",
                                 .narrow = "mlp.fc2",
                                 .norm = "norm2",
                                 .query_bias = false,
                                 .attended_bias = false,
                                 .wide_bias = false,
                                 .narrow_bias = false};

// Reads the keys of the published checkpoints, which are GPT-2's and those of their code.
Status read_published(const Json& config, const path& file, PlainEncoder& nomic) {
  EncoderSizes& sizes = nomic.sizes;
  LB_RETURN_IF_ERROR(read_sizes(config, file,
                                {{"n_embd", kHiddenSizeMax, &sizes.hidden},
                                 {"n_layer", kLayersMax, &sizes.layers},
                                 {"n_head", kHeadsMax, &sizes.heads},
                                 {"n_inner", kIntermediateMax, &sizes.intermediate},
                                 {"vocab_size", kVocabularyMax, &sizes.vocabulary},
                                 {"n_positions", kTokensMax, &sizes.positions}}));
  LB_RETURN_IF_ERROR(check_heads(sizes, file, "n_embd", "n_head"));
  LB_RETURN_IF_ERROR(read_epsilon(config, "layer_norm_epsilon", file, sizes.epsilon));
  LB_RETURN_IF_ERROR(expect(config, file, "activation_function", "swiglu"));
  sizes.activation = graph::ActivationFunction::kSilu;
  for (const char* key : {"causal", "prenorm", "parallel_block", "qkv_proj_bias", "mlp_fc1_bias", "mlp_fc2_bias",
                          "use_rms_norm", "rotary_emb_interleaved", "scale_attn_by_inverse_layer_idx"}) {
    LB_RETURN_IF_ERROR(expect(config, file, key, false));
  }
  LB_RETURN_IF_ERROR(expect(config, file, "scale_attn_weights", true));
  LB_RETURN_IF_ERROR(expect(config, file, "rotary_emb_fraction", 1.0));
  for (const char* key : {"rotary_emb_scale_base", "rotary_scaling_factor"})
    LB_RETURN_IF_ERROR(expect(config, file, key, nullptr));
  LB_ASSIGN_OR_RETURN(const double base, read_rotary_base(config, "rotary_emb_base", 10000, file));
  LB_ASSIGN_OR_RETURN(nomic.terms.rotary, plain_rotary(file, rotary_heads_of(sizes), base));
  return {};
}

// Reads transformers' keys.
Status read_new(const Json& config, const path& file, PlainEncoder& nomic) {
  EncoderSizes& sizes = nomic.sizes;
  LB_RETURN_IF_ERROR(read_usual_sizes(config, file, sizes));
  LB_RETURN_IF_ERROR(expect(config, file, "head_dim", sizes.hidden / sizes.heads));
  LB_RETURN_IF_ERROR(read_epsilon(config, "layer_norm_eps", file, sizes.epsilon));
  LB_ASSIGN_OR_RETURN(sizes.activation, read_activation(config, "hidden_act", file, "silu"));
  LB_ASSIGN_OR_RETURN(nomic.terms.rotary, read_rotary(config, file, rotary_heads_of(sizes), 1000));
  return {};
}

}  // namespace

Result<std::shared_ptr<const Network>> read_nomic_bert(const Json& config, const path& file) {
  LB_RETURN_IF_ERROR(refuse_variants(config, file));
  if (config.contains("num_experts"))
    return unsupported_file(file, "'num_experts': mixtures of experts are not supported");
  PlainEncoder nomic{.prefix = "bert.", .norm = "emb_ln", .layers = "encoder.layers.", .names = kNomicNames};
  LB_RETURN_IF_ERROR(read_sizes(config, file, {{"type_vocab_size", kTokenTypesMax, &nomic.token_type_count}}));
  LB_RETURN_IF_ERROR(config.contains("n_embd") ? read_published(config, file, nomic) : read_new(config, file, nomic));
  return make_plain_encoder(std::move(nomic));
}

}  // namespace latebind::embedding
