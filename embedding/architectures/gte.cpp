#include "embedding/architectures/gte.h"

#include <fmt/format.h>

#include <string>
#include <utility>

#include "core/json_text.h"
#include "embedding/architectures/encoder.h"
#include "embedding/refusals.h"

namespace latebind::embedding {
namespace {

using core::Result;
using graph::Value;
using nlohmann::json;
using std::filesystem::path;

// Below "encoder.layer.N.".
constexpr LayerNames kGteNames{.query_key_value = "attention.qkv_proj",
                               .attended = "attention.o_proj",
                               .attended_norm = "attn_ln",
                               .gate_and_wide = "mlp.up_gate_proj",
                               .narrow = "mlp.down_proj",
                               .norm = "mlp_ln",
                               .wide_bias = false};

struct GteConfig {
  EncoderSizes sizes{};
  std::size_t token_type_count = 0;  // some have none
  double base = 160000;
};

class GteNetwork final : public EncoderNetwork {
 public:
  explicit GteNetwork(const GteConfig& config) : EncoderNetwork(config.sizes), config_(config) {}

  [[nodiscard]] Result<graph::Graph> make_graph(const Safetensors& weights, const NetworkEnd& end) const override {
    const std::size_t hidden = sizes().hidden;
    EncoderBuilder encoder(sizes(), weights, "new.");
    encoder.set_terms(
        {.rotary = graph::Rotary{.base = config_.base, .positions = static_cast<std::int64_t>(sizes().positions)}});
    const auto [ids, mask] = encoder.inputs();
    LB_ASSIGN_OR_RETURN(auto words, encoder.weight(std::string(EncoderBuilder::kWords), {sizes().vocabulary, hidden}));
    Value x = encoder.graph().add(graph::Lookup{.table = std::move(words), .ids = ids});
    if (config_.token_type_count > 0) {
      LB_ASSIGN_OR_RETURN(
          auto types, encoder.weight("embeddings.token_type_embeddings.weight", {config_.token_type_count, hidden}));
      // A single text has type 0 throughout.
      const Value type = encoder.graph().add(graph::RowLookup{.table = std::move(types), .row = 0});
      x = encoder.graph().add(graph::Add{.a = x, .b = type});
    }
    LB_ASSIGN_OR_RETURN(x, encoder.layer_norm(x, hidden, "embeddings.LayerNorm"));
    for (std::size_t i = 0; i < sizes().layers; ++i) {
      LB_ASSIGN_OR_RETURN(x, encoder.layer(x, mask, fmt::format("encoder.layer.{}.", i), kGteNames));
    }
    return std::move(encoder).finish(x, mask, end);
  }

 private:
  const GteConfig config_;
};

}  // namespace

Result<std::shared_ptr<const Network>> read_gte(const json& config, const path& file) {
  LB_RETURN_IF_ERROR(refuse_variants(config, file, "rope"));
  GteConfig gte;
  EncoderSizes& sizes = gte.sizes;
  LB_RETURN_IF_ERROR(read_usual_sizes(config, file, sizes));
  LB_ASSIGN_OR_RETURN(const auto types,
                      core::read_size(config, "type_vocab_size", 0, kTokenTypesMax, platform::path_to_utf8(file)));
  gte.token_type_count = types.value_or(1);
  LB_RETURN_IF_ERROR(read_epsilon(config, "layer_norm_eps", file, sizes.epsilon));
  LB_ASSIGN_OR_RETURN(sizes.activation, read_activation(config, "hidden_act", file));
  // In the published files; what their own code makes of scaled positions has no reference in transformers.
  LB_RETURN_IF_ERROR(expect(config, file, "rope_scaling", nullptr));
  LB_RETURN_IF_ERROR(expect(config, file, "layer_norm_type", "layer_norm"));
  LB_RETURN_IF_ERROR(expect(config, file, "logn_attention_scale", false));
  LB_RETURN_IF_ERROR(expect(config, file, "pack_qkv", true));
  json parameters = json::object();
  if (config.contains("rope_theta")) parameters["rope_theta"] = config["rope_theta"];
  LB_ASSIGN_OR_RETURN(gte.base, read_rotary_base(json{{"rope_theta", parameters}}, "rope_theta", gte.base, file));
  LB_ASSIGN_OR_RETURN(gte.base, read_rotary_base(config, "rope_parameters", gte.base, file));
  return std::shared_ptr<const Network>(std::make_shared<const GteNetwork>(gte));
}

}  // namespace latebind::embedding
