#include "embedding/architectures/modernbert.h"

#include <fmt/format.h>

#include <string>
#include <utility>
#include <vector>

#include "core/json_text.h"
#include "core/text/quote.h"
#include "embedding/architectures/encoder.h"
#include "embedding/refusals.h"

namespace latebind::embedding {
namespace {

using core::printable;
using core::Result;
using core::Status;
using graph::Value;
using nlohmann::json;
using std::filesystem::path;

struct ModernBertConfig {
  EncoderSizes sizes{};
  std::vector<bool> is_local;  // by layer
  std::size_t window = 0;      // of those: the farthest distance
  double base = 0;             // of the others
  double local_base = 0;
  bool norm_bias = false;
  bool attention_bias = false;
  bool mlp_bias = false;
};

class ModernBertNetwork final : public EncoderNetwork {
 public:
  explicit ModernBertNetwork(ModernBertConfig config) : EncoderNetwork(config.sizes), config_(std::move(config)) {}

  [[nodiscard]] Result<graph::Graph> make_graph(const Safetensors& weights, const NetworkEnd& end) const override {
    EncoderBuilder encoder(sizes(), weights, "model.", "embeddings.tok_embeddings.weight");
    const auto [ids, mask] = encoder.inputs();
    LB_ASSIGN_OR_RETURN(Value x, encoder.words(ids, sizes().hidden));
    LB_ASSIGN_OR_RETURN(x, norm(encoder, x, "embeddings.norm"));
    for (std::size_t i = 0; i < sizes().layers; ++i) {
      LB_ASSIGN_OR_RETURN(x, layer(encoder, x, mask, i));
    }
    LB_ASSIGN_OR_RETURN(x, norm(encoder, x, "final_norm"));
    return std::move(encoder).finish(x, mask, end);
  }

 private:
  [[nodiscard]] Result<Value> norm(EncoderBuilder& encoder, Value x, const std::string& name) const {
    return encoder.layer_norm(x, sizes().hidden, name, config_.norm_bias);
  }

  [[nodiscard]] Result<Value> layer(EncoderBuilder& encoder, Value x, Value mask, std::size_t number) const {
    const LayerNames names{.query_key_value = "attn.Wqkv",
                           .attended = "attn.Wo",
                           .attended_norm = "attn_norm",
                           .wide_and_gate = "mlp.Wi",
                           .narrow = "mlp.Wo",
                           .norm = "mlp_norm",
                           .query_bias = config_.attention_bias,
                           .attended_bias = config_.attention_bias,
                           .wide_bias = config_.mlp_bias,
                           .narrow_bias = config_.mlp_bias};
    const std::string place = fmt::format("layers.{}.", number);
    const auto normal = [&](Value of, std::string_view name) { return norm(encoder, of, place + std::string(name)); };
    const bool is_local = config_.is_local[number];
    AttentionTerms terms;
    terms.rotary = graph::Rotary{.base = is_local ? config_.local_base : config_.base,
                                 .positions = static_cast<std::int64_t>(sizes().positions)};
    if (is_local) terms.window = static_cast<std::int64_t>(config_.window);
    encoder.set_terms(terms);
    Value before = x;
    // The first one's is that of the embeddings.
    if (number > 0) {
      LB_ASSIGN_OR_RETURN(before, normal(x, names.attended_norm));
    }
    LB_ASSIGN_OR_RETURN(const Value attended, encoder.attention(before, mask, place, names));
    const Value middle = encoder.graph().add(graph::Add{.a = attended, .b = x});
    LB_ASSIGN_OR_RETURN(before, normal(middle, names.norm));
    LB_ASSIGN_OR_RETURN(const Value narrow, encoder.feed_forward(before, place, names));
    return encoder.graph().add(graph::Add{.a = narrow, .b = middle});
  }

  const ModernBertConfig config_;
};

// Which layers look at near tokens alone: by name, or in old files all but every so manyth.
Status read_layer_types(const json& config, const path& file, ModernBertConfig& modern) {
  const std::size_t layers = modern.sizes.layers;
  const auto types = config.find("layer_types");
  if (types == config.end() || types->is_null()) {
    LB_ASSIGN_OR_RETURN(const auto every, core::read_size(config, "global_attn_every_n_layers", 1, kLayersMax,
                                                          platform::path_to_utf8(file)));
    for (std::size_t i = 0; i < layers; ++i)
      modern.is_local.push_back(i % every.value_or(3) != 0);
    return {};
  }
  if (!types->is_array() || types->size() != layers)
    return invalid_file(file, fmt::format("'layer_types' is no list of {} layers", layers));
  for (const json& type : *types) {
    if (type != "full_attention" && type != "sliding_attention") {
      return unsupported_file(file, fmt::format("'layer_types' has {}; supported are full_attention and "
                                                "sliding_attention",
                                                core::printable_json(type)));
    }
    modern.is_local.push_back(type == "sliding_attention");
  }
  return {};
}

// Bases by kind of layer, or in old files under names of their own.
Status read_bases(const json& config, const path& file, ModernBertConfig& modern) {
  LB_RETURN_IF_ERROR(expect(config, file, "rope_scaling", nullptr));
  LB_ASSIGN_OR_RETURN(modern.base, read_rotary_base(config, "global_rope_theta", 160000, file));
  LB_ASSIGN_OR_RETURN(modern.local_base, read_rotary_base(config, "local_rope_theta", 10000, file));
  const auto parameters = config.find("rope_parameters");
  if (parameters == config.end() || parameters->is_null()) return {};
  if (!parameters->is_object()) return invalid_file(file, "'rope_parameters' is no object");
  for (const auto& [key, value] : parameters->items()) {
    if (key != "full_attention" && key != "sliding_attention")
      return unsupported_file(file, fmt::format("'rope_parameters' has '{}'", printable(key)));
  }
  LB_ASSIGN_OR_RETURN(modern.base, read_rope_parameters(*parameters, "full_attention", modern.base, file));
  LB_ASSIGN_OR_RETURN(modern.local_base,
                      read_rope_parameters(*parameters, "sliding_attention", modern.local_base, file));
  return {};
}

}  // namespace

Result<std::shared_ptr<const Network>> read_modernbert(const json& config, const path& file) {
  LB_RETURN_IF_ERROR(refuse_variants(config, file));
  const std::string name = platform::path_to_utf8(file);
  ModernBertConfig modern;
  EncoderSizes& sizes = modern.sizes;
  LB_RETURN_IF_ERROR(read_usual_sizes(config, file, sizes));
  sizes.epsilon = 1e-5F;
  LB_RETURN_IF_ERROR(read_epsilon(config, "norm_eps", file, sizes.epsilon));
  LB_ASSIGN_OR_RETURN(sizes.activation, read_activation(config, "hidden_activation", file));
  LB_ASSIGN_OR_RETURN(modern.norm_bias, core::read_bool(config, "norm_bias", false, name));
  LB_ASSIGN_OR_RETURN(modern.attention_bias, core::read_bool(config, "attention_bias", false, name));
  LB_ASSIGN_OR_RETURN(modern.mlp_bias, core::read_bool(config, "mlp_bias", false, name));
  LB_ASSIGN_OR_RETURN(const auto local, core::read_size(config, "local_attention", 2, kTokensMax, name));
  modern.window = local.value_or(128) / 2;
  LB_RETURN_IF_ERROR(read_layer_types(config, file, modern));
  LB_RETURN_IF_ERROR(read_bases(config, file, modern));
  return std::shared_ptr<const Network>(std::make_shared<const ModernBertNetwork>(std::move(modern)));
}

}  // namespace latebind::embedding
