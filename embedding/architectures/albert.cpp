#include "embedding/architectures/albert.h"

#include <fmt/format.h>

#include "embedding/architectures/bert.h"
#include "embedding/folder/refusals.h"

namespace latebind::embedding {
namespace {

using core::Json;
using core::Result;
using graph::Value;
using std::filesystem::path;

// Below "encoder.albert_layer_groups.N.albert_layers.M.".
constexpr LayerNames kAlbertNames{.query = "attention.query",
                                  .key = "attention.key",
                                  .value = "attention.value",
                                  .attended = "attention.dense",
                                  .attended_norm = "attention.LayerNorm",
                                  .wide = "ffn",
                                  .narrow = "ffn_output",
                                  .norm = "full_layer_layer_norm"};

struct AlbertConfig {
  BertConfig bert;
  std::size_t groups = 0;
  std::size_t layers_of_group = 0;
};

class AlbertNetwork final : public EncoderNetwork {
 public:
  explicit AlbertNetwork(const AlbertConfig& config) : EncoderNetwork(config.bert.sizes), config_(config) {}

  [[nodiscard]] Result<graph::Graph> make_graph(const ModelWeights& weights, const NetworkUse& use) const override {
    EncoderBuilder encoder(sizes(), weights, use, "albert.");
    const auto [ids, mask] = encoder.inputs();
    LB_ASSIGN_OR_RETURN(Value x, bert_embeddings(encoder, config_.bert, ids, use));
    LB_ASSIGN_OR_RETURN(
        x, encoder.linear(x, "encoder.embedding_hidden_mapping_in", config_.bert.embedding_size, sizes().hidden));
    // Divides like the reference, because the rounding decides where a group ends.
    const double layers_of_groups = static_cast<double>(sizes().layers) / static_cast<double>(config_.groups);
    for (std::size_t i = 0; i < sizes().layers; ++i) {
      const auto group = static_cast<std::size_t>(static_cast<double>(i) / layers_of_groups);
      for (std::size_t layer = 0; layer < config_.layers_of_group; ++layer) {
        const std::string place = fmt::format("encoder.albert_layer_groups.{}.albert_layers.{}.", group, layer);
        LB_ASSIGN_OR_RETURN(x, encoder.layer(x, mask, place, kAlbertNames));
      }
    }
    return std::move(encoder).finish(x, mask);
  }

 private:
  const AlbertConfig config_;
};

}  // namespace

Result<std::shared_ptr<const Network>> read_albert(const Json& config, const path& file) {
  AlbertConfig albert;
  LB_ASSIGN_OR_RETURN(albert.bert, read_bert_config(config, file, "gelu_new"));
  LB_RETURN_IF_ERROR(read_sizes(config, file,
                                {{"embedding_size", kHiddenSizeMax, &albert.bert.embedding_size},
                                 {"num_hidden_groups", kLayersMax, &albert.groups},
                                 {"inner_group_num", kLayersMax, &albert.layers_of_group}}));
  if (albert.bert.sizes.layers * albert.layers_of_group > kLayersMax) {
    return invalid_file(file, fmt::format("'num_hidden_layers' {} times 'inner_group_num' {} is more than {}",
                                          albert.bert.sizes.layers, albert.layers_of_group, kLayersMax));
  }
  return std::shared_ptr<const Network>(std::make_shared<const AlbertNetwork>(albert));
}

}  // namespace latebind::embedding
