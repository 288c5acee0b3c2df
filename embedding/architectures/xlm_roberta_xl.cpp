#include "embedding/architectures/xlm_roberta_xl.h"

#include <fmt/format.h>

#include <utility>

#include "embedding/architectures/bert.h"
#include "embedding/architectures/encoder.h"
#include "embedding/architectures/roberta.h"

namespace latebind::embedding {
namespace {

using core::Json;
using core::Result;
using graph::Value;
using std::filesystem::path;

// Tensors of a layer, below "encoder.layer.N.".
constexpr LayerNames kXlNames{.query = "attention.self.query",
                              .key = "attention.self.key",
                              .value = "attention.self.value",
                              .attended = "attention.output.dense",
                              .attended_norm = "attention.self_attn_layer_norm",
                              .wide = "intermediate.dense",
                              .narrow = "output.dense",
                              .norm = "LayerNorm"};

class XlmRobertaXlNetwork final : public EncoderNetwork {
 public:
  explicit XlmRobertaXlNetwork(const BertConfig& config) : EncoderNetwork(config.sizes), config_(config) {}

  [[nodiscard]] Result<graph::Graph> make_graph(const ModelWeights& weights, const NetworkUse& use) const override {
    EncoderBuilder encoder(sizes(), weights, use, config_.prefix);
    const auto [ids, mask] = encoder.inputs();
    LB_ASSIGN_OR_RETURN(Value x, bert_embedding_sum(encoder, config_, ids, use));
    for (std::size_t i = 0; i < sizes().layers; ++i) {
      LB_ASSIGN_OR_RETURN(x, encoder.pre_norm_layer(x, mask, fmt::format("encoder.layer.{}.", i), kXlNames));
    }
    LB_ASSIGN_OR_RETURN(x, encoder.norm(x, sizes().hidden, "encoder.LayerNorm"));
    return std::move(encoder).finish(x, mask);
  }

 private:
  const BertConfig config_;
};

}  // namespace

Result<std::shared_ptr<const Network>> read_xlm_roberta_xl(const Json& config, const path& file) {
  LB_ASSIGN_OR_RETURN(const BertConfig roberta, read_roberta_config(config, file));
  return std::shared_ptr<const Network>(std::make_shared<const XlmRobertaXlNetwork>(roberta));
}

}  // namespace latebind::embedding
