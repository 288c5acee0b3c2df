#include "embedding/architectures/gte.h"

#include <utility>

#include "core/json/read.h"
#include "embedding/architectures/encoder.h"
#include "embedding/architectures/rotary.h"
#include "embedding/folder/refusals.h"

namespace latebind::embedding {
namespace {

using core::Json;
using core::Result;
using std::filesystem::path;

// Below "encoder.layer.N.".
constexpr LayerNames kGteNames{.query_key_value = "attention.qkv_proj",
                               .attended = "attention.o_proj",
                               .attended_norm = "attn_ln",
                               .gate_and_wide = "mlp.up_gate_proj",
                               .narrow = "mlp.down_proj",
                               .norm = "mlp_ln",
                               .wide_bias = false};

}  // namespace

Result<std::shared_ptr<const Network>> read_gte(const Json& config, const path& file) {
  LB_RETURN_IF_ERROR(refuse_variants(config, file, "rope"));
  PlainEncoder gte{.prefix = config.value("model_type", "") == "gte" ? "gte." : "new.", .names = kGteNames};
  EncoderSizes& sizes = gte.sizes;
  LB_RETURN_IF_ERROR(read_usual_sizes(config, file, sizes));
  LB_ASSIGN_OR_RETURN(const auto types,
                      core::read_size(config, "type_vocab_size", 0, kTokenTypesMax, platform::path_to_utf8(file)));
  gte.token_type_count = types.value_or(1);  // some files have none
  LB_RETURN_IF_ERROR(read_epsilon(config, "layer_norm_eps", file, sizes.epsilon));
  LB_ASSIGN_OR_RETURN(sizes.activation, read_activation(config, "hidden_act", file));
  for (const auto& [key, expected] : {std::pair{"layer_norm_type", Json("layer_norm")},
                                      {"logn_attention_scale", Json(false)},
                                      {"pack_qkv", Json(true)}})
    LB_RETURN_IF_ERROR(expect(config, file, key, expected));
  LB_ASSIGN_OR_RETURN(gte.terms.rotary, read_rotary(config, file, rotary_heads_of(sizes), 160000));
  return make_plain_encoder(std::move(gte));
}

}  // namespace latebind::embedding
