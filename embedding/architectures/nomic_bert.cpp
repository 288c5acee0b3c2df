#include "embedding/architectures/nomic_bert.h"

#include <utility>

#include "embedding/architectures/encoder.h"
#include "embedding/architectures/rotary.h"
#include "embedding/refusals.h"

namespace latebind::embedding {
namespace {

using core::Result;
using core::Status;
using graph::Value;
using nlohmann::json;
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

struct NomicBertConfig {
  EncoderSizes sizes{};
  std::size_t token_type_count = 0;
  graph::Rotary rotary{};
};

class NomicBertNetwork final : public EncoderNetwork {
 public:
  explicit NomicBertNetwork(NomicBertConfig config) : EncoderNetwork(config.sizes), config_(std::move(config)) {}

  [[nodiscard]] Result<graph::Graph> make_graph(const ModelWeights& weights, const NetworkEnd& end) const override {
    const std::size_t hidden = sizes().hidden;
    EncoderBuilder encoder(sizes(), weights, "bert.");
    encoder.set_terms({.rotary = config_.rotary});
    const auto [ids, mask] = encoder.inputs();
    LB_ASSIGN_OR_RETURN(const Value word, encoder.words(ids, hidden));
    LB_ASSIGN_OR_RETURN(const Value type, encoder.token_type(config_.token_type_count, hidden));
    const Value sum = encoder.graph().add(graph::Add{.a = word, .b = type});
    LB_ASSIGN_OR_RETURN(Value x, encoder.norm(sum, hidden, "emb_ln"));
    LB_ASSIGN_OR_RETURN(x, encoder.layers(x, mask, "encoder.layers.", kNomicNames));
    return std::move(encoder).finish(x, mask, end);
  }

 private:
  const NomicBertConfig config_;
};

// The keys of the published checkpoints, which are GPT-2's and those of their own code.
Status read_published(const json& config, const path& file, NomicBertConfig& nomic) {
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
  LB_ASSIGN_OR_RETURN(nomic.rotary, plain_rotary(file, rotary_heads_of(sizes), base));
  return {};
}

// transformers' own.
Status read_new(const json& config, const path& file, NomicBertConfig& nomic) {
  EncoderSizes& sizes = nomic.sizes;
  LB_RETURN_IF_ERROR(read_usual_sizes(config, file, sizes));
  LB_RETURN_IF_ERROR(expect(config, file, "head_dim", sizes.hidden / sizes.heads));
  LB_RETURN_IF_ERROR(read_epsilon(config, "layer_norm_eps", file, sizes.epsilon));
  LB_ASSIGN_OR_RETURN(sizes.activation, read_activation(config, "hidden_act", file, "silu"));
  LB_ASSIGN_OR_RETURN(nomic.rotary, read_rotary(config, file, rotary_heads_of(sizes), 1000));
  return {};
}

}  // namespace

Result<std::shared_ptr<const Network>> read_nomic_bert(const json& config, const path& file) {
  LB_RETURN_IF_ERROR(refuse_variants(config, file));
  if (config.contains("num_experts"))
    return unsupported_file(file, "'num_experts': mixtures of experts are not supported");
  NomicBertConfig nomic;
  LB_RETURN_IF_ERROR(read_sizes(config, file, {{"type_vocab_size", kTokenTypesMax, &nomic.token_type_count}}));
  LB_RETURN_IF_ERROR(config.contains("n_embd") ? read_published(config, file, nomic) : read_new(config, file, nomic));
  return std::shared_ptr<const Network>(std::make_shared<const NomicBertNetwork>(std::move(nomic)));
}

}  // namespace latebind::embedding
