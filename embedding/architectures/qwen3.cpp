#include "embedding/architectures/qwen3.h"

#include <fmt/format.h>

#include <utility>

#include "core/json/read.h"
#include "embedding/architectures/decoder.h"
#include "embedding/architectures/rotary.h"
#include "embedding/folder/refusals.h"

namespace latebind::embedding {
namespace {

using core::Json;
using core::Result;
using core::Status;
using graph::Value;
using std::filesystem::path;

struct Qwen3Config {
  DecoderConfig decoder{};
  graph::Rotary rotary{};
};

class Qwen3Network final : public EncoderNetwork {
 public:
  explicit Qwen3Network(Qwen3Config config) : EncoderNetwork(config.decoder.sizes), config_(std::move(config)) {}

  [[nodiscard]] Result<graph::Graph> make_graph(const ModelWeights& weights, const NetworkUse& use) const override {
    EncoderBuilder encoder(sizes(), weights, use, kDecoderPrefix, kDecoderWords);
    encoder.set_terms({.rotary = config_.rotary, .causal = config_.decoder.causal});
    const LayerNames names = decoder_names(config_.decoder);
    const auto [ids, mask] = encoder.inputs();
    LB_ASSIGN_OR_RETURN(Value x, encoder.words(ids, sizes().hidden));
    for (std::size_t i = 0; i < sizes().layers; ++i) {
      LB_ASSIGN_OR_RETURN(x, encoder.pre_norm_layer(x, mask, fmt::format("layers.{}.", i), names));
    }
    LB_ASSIGN_OR_RETURN(x, encoder.norm(x, sizes().hidden, "norm"));
    return std::move(encoder).finish(x, mask);
  }

 private:
  const Qwen3Config config_;
};

// Refuses local attention, which no published checkpoint has.
Status refuse_windows(const Json& config, const path& file) {
  LB_RETURN_IF_ERROR(expect(config, file, "use_sliding_window", false));
  const auto* const types = core::find_member(config, "layer_types");
  if (types == nullptr || !types->is_array()) return {};
  for (const Json& type : *types) {
    if (type != "full_attention") {
      return unsupported_file(
          file, fmt::format("'layer_types' has {}; only full_attention is supported", core::printable_json(type)));
    }
  }
  return {};
}

}  // namespace

Result<std::shared_ptr<const Network>> read_qwen3(const Json& config, const path& file) {
  LB_RETURN_IF_ERROR(refuse_windows(config, file));
  Qwen3Config qwen;
  LB_ASSIGN_OR_RETURN(qwen.decoder, read_decoder(config, file));
  LB_ASSIGN_OR_RETURN(qwen.decoder.sizes.activation, read_activation(config, "hidden_act", file, "silu"));
  LB_ASSIGN_OR_RETURN(qwen.rotary, read_rotary(config, file, rotary_heads_of(qwen.decoder.sizes), 10000));
  return std::shared_ptr<const Network>(std::make_shared<const Qwen3Network>(std::move(qwen)));
}

}  // namespace latebind::embedding
