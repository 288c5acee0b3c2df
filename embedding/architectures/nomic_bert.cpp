#include "embedding/architectures/nomic_bert.h"

#include <array>
#include <string>
#include <string_view>
#include <utility>

#include "core/json/read.h"
#include "core/platform/files/folders.h"
#include "embedding/architectures/encoder.h"
#include "embedding/architectures/rotary.h"
#include "embedding/folder/known_words.h"
#include "embedding/folder/refusals.h"

namespace latebind::embedding {
namespace {

using core::Json;
using core::Result;
using core::Status;
using std::filesystem::path;

// The names below "encoder.layers.N.".
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

// The names in layers without gates, and in layers with experts.
constexpr LayerNames kPlainNames{.query_key_value = "attn.Wqkv",
                                 .attended = "attn.out_proj",
                                 .attended_norm = "norm1",
                                 .wide = "mlp.fc1",
                                 .narrow = "mlp.fc2",
                                 .norm = "norm2"};
constexpr LayerNames kExpertNames{.query_key_value = "attn.Wqkv",
                                  .attended = "attn.out_proj",
                                  .attended_norm = "norm1",
                                  .experts = "mlp.experts",
                                  .router = "mlp.router.layer",
                                  .norm = "norm2"};

// About a hundred times the largest value in published networks.
constexpr std::size_t kExpertsMax = 1024;

// Reads which layers have experts, and how many.
Status read_experts(const Json& config, const path& file, PlainEncoder& nomic) {
  const std::string name = platform::path_to_utf8(file);
  EncoderSizes& sizes = nomic.sizes;
  LB_ASSIGN_OR_RETURN(const auto experts, core::read_size(config, "num_experts", 0, kExpertsMax, name));
  LB_ASSIGN_OR_RETURN(const auto every, core::read_size(config, "moe_every_n_layers", 0, kLayersMax, name));
  if (experts.value_or(0) == 0 || every.value_or(0) == 0) return {};
  LB_RETURN_IF_ERROR(read_sizes(config, file, {{"moe_top_k", *experts, &sizes.chosen}}));
  for (const char* key : {"expert_choice_router", "moe_normalize_expert_weights"})
    LB_RETURN_IF_ERROR(expect(config, file, key, false));
  LB_RETURN_IF_ERROR(expect(config, file, "num_shared_experts", 0));
  LB_RETURN_IF_ERROR(expect(config, file, "ffn_div", 1));
  if (config.value("activation_function", "") != "gelu")
    return unsupported_file(file, "'num_experts' without an 'activation_function' of \"gelu\" is not supported");
  sizes.experts = *experts;
  for (std::size_t i = 0; i < sizes.layers; ++i)
    nomic.has_experts.push_back(i % *every == 1);
  return {};
}

// Reads the activation and the biases.
Status read_layers(const Json& config, const path& file, PlainEncoder& nomic) {
  constexpr std::array<std::string_view, 2> kActivations{"swiglu", "gelu"};
  const std::string name = platform::path_to_utf8(file);
  LB_ASSIGN_OR_RETURN(const std::string activation, read_word(config, "activation_function", file, kActivations));
  const bool is_gated = activation == "swiglu";
  nomic.sizes.activation = is_gated ? graph::ActivationFunction::kSilu : graph::ActivationFunction::kGeluErf;
  nomic.names = is_gated ? kNomicNames : kPlainNames;
  nomic.expert_names = kExpertNames;
  LB_ASSIGN_OR_RETURN(const bool attention_bias, core::read_bool(config, "qkv_proj_bias", false, name));
  for (LayerNames* names : {&nomic.names, &nomic.expert_names})
    names->query_bias = names->attended_bias = attention_bias;
  LB_ASSIGN_OR_RETURN(nomic.names.wide_bias, core::read_bool(config, "mlp_fc1_bias", false, name));
  LB_ASSIGN_OR_RETURN(nomic.names.narrow_bias, core::read_bool(config, "mlp_fc2_bias", false, name));
  return read_experts(config, file, nomic);
}

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
  LB_RETURN_IF_ERROR(read_layers(config, file, nomic));
  for (const char* key : {"causal", "prenorm", "parallel_block", "use_rms_norm", "rotary_emb_interleaved",
                          "scale_attn_by_inverse_layer_idx"}) {
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
  LB_RETURN_IF_ERROR(expect(config, file, "num_experts", 0));
  LB_RETURN_IF_ERROR(read_epsilon(config, "layer_norm_eps", file, sizes.epsilon));
  LB_ASSIGN_OR_RETURN(sizes.activation, read_activation(config, "hidden_act", file, "silu"));
  LB_ASSIGN_OR_RETURN(nomic.terms.rotary, read_rotary(config, file, rotary_heads_of(sizes), 1000));
  return {};
}

}  // namespace

Result<std::shared_ptr<const Network>> read_nomic_bert(const Json& config, const path& file) {
  LB_RETURN_IF_ERROR(refuse_variants(config, file));
  PlainEncoder nomic{.prefix = "bert.", .norm = "emb_ln", .layers = "encoder.layers.", .names = kNomicNames};
  LB_RETURN_IF_ERROR(read_sizes(config, file, {{"type_vocab_size", kTokenTypesMax, &nomic.token_type_count}}));
  LB_RETURN_IF_ERROR(config.contains("n_embd") ? read_published(config, file, nomic) : read_new(config, file, nomic));
  return make_plain_encoder(std::move(nomic));
}

}  // namespace latebind::embedding
