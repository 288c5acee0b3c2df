#include "embedding/architectures/jina_roberta.h"

#include <string_view>

#include "core/json/read.h"
#include "embedding/architectures/bert.h"
#include "embedding/architectures/encoder.h"
#include "embedding/architectures/jina_v3.h"
#include "embedding/architectures/roberta.h"

namespace latebind::embedding {
namespace {

using core::Json;
using core::Result;
using graph::Value;
using std::filesystem::path;

class JinaRobertaNetwork final : public EncoderNetwork {
 public:
  explicit JinaRobertaNetwork(const BertConfig& config) : EncoderNetwork(config.sizes), config_(config) {}

  [[nodiscard]] Result<graph::Graph> make_graph(const ModelWeights& weights, const NetworkUse& use) const override {
    EncoderBuilder encoder(sizes(), weights, use, config_.prefix);
    const auto [ids, mask] = encoder.inputs();
    LB_ASSIGN_OR_RETURN(Value x, bert_embedding_sum(encoder, config_, ids, use));
    LB_ASSIGN_OR_RETURN(x, encoder.norm(x, sizes().hidden, "emb_ln"));
    LB_ASSIGN_OR_RETURN(x, encoder.layers(x, mask, "encoder.layers.", kJinaRobertaNames));
    return std::move(encoder).finish(x, mask);
  }

 private:
  const BertConfig config_;
};

}  // namespace

bool is_jina_roberta(const Json& config) {
  const Json* const map = core::find_member(config, "auto_map");
  const Json* const code = map == nullptr ? nullptr : core::find_member(*map, "AutoConfig");
  return code != nullptr && code->is_string() && std::string_view(code->text()).ends_with(".XLMRobertaFlashConfig");
}

Result<std::shared_ptr<const Network>> read_jina_roberta(const Json& config, const path& file) {
  LB_ASSIGN_OR_RETURN(const BertConfig roberta, read_roberta_config(config, file));
  // Low-rank parts, which have rotary positions, another pooling, and a last layer with other tensors.
  for (const char* key : {"lora_adaptations", "emb_pooler"})
    LB_RETURN_IF_ERROR(expect(config, file, key, nullptr));
  LB_RETURN_IF_ERROR(expect(config, file, "last_layer_subset", false));
  // The number of rows to which the table of words is rounded up.
  LB_RETURN_IF_ERROR(expect(config, file, "pad_vocab_size_multiple", 1));
  return std::shared_ptr<const Network>(std::make_shared<const JinaRobertaNetwork>(roberta));
}

}  // namespace latebind::embedding
