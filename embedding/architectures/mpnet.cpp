#include "embedding/architectures/mpnet.h"

#include <fmt/format.h>

#include "core/json/read.h"
#include "embedding/architectures/encoder.h"
#include "embedding/folder/refusals.h"

namespace latebind::embedding {
namespace {

using core::Json;
using core::Result;
using graph::Value;
using std::filesystem::path;

// transformers uses these values regardless of config.json.
constexpr std::size_t kMpnetPadding = 1;
constexpr std::size_t kMpnetBuckets = 32;
constexpr std::int64_t kMpnetFarthest = 128;

// Below "encoder.layer.N.".
constexpr LayerNames kMpnetNames{.query = "attention.attn.q",
                                 .key = "attention.attn.k",
                                 .value = "attention.attn.v",
                                 .attended = "attention.attn.o",
                                 .attended_norm = "attention.LayerNorm",
                                 .wide = "intermediate.dense",
                                 .narrow = "output.dense",
                                 .norm = "output.LayerNorm"};

class MpnetNetwork final : public EncoderNetwork {
 public:
  using EncoderNetwork::EncoderNetwork;

  [[nodiscard]] Result<graph::Graph> make_graph(const ModelWeights& weights, const NetworkUse& use) const override {
    EncoderBuilder encoder(sizes(), weights, use, "mpnet.");
    const auto [ids, mask] = encoder.inputs();
    LB_ASSIGN_OR_RETURN(const Value word, encoder.words(ids, sizes().hidden));
    LB_ASSIGN_OR_RETURN(const Value position, encoder.positions(ids, sizes().hidden));
    const Value sum = encoder.graph().add(graph::Add{.a = word, .b = position});
    LB_ASSIGN_OR_RETURN(Value x, encoder.norm(sum, sizes().hidden, "embeddings.LayerNorm"));
    LB_ASSIGN_OR_RETURN(auto distances,
                        encoder.weight("encoder.relative_attention_bias.weight", {kMpnetBuckets, sizes().heads}));
    encoder.set_terms(
        {.distance_bias = graph::DistanceBias{.table = std::move(distances), .farthest = kMpnetFarthest}});
    LB_ASSIGN_OR_RETURN(x, encoder.layers(x, mask, "encoder.layer.", kMpnetNames));
    return std::move(encoder).finish(x, mask);
  }
};

}  // namespace

Result<std::shared_ptr<const Network>> read_mpnet(const Json& config, const path& file) {
  LB_RETURN_IF_ERROR(refuse_variants(config, file));
  EncoderSizes sizes;
  LB_RETURN_IF_ERROR(read_usual_sizes(config, file, sizes));
  sizes.padding = kMpnetPadding;
  LB_RETURN_IF_ERROR(check_padding(sizes, file, "the padding's id"));
  LB_ASSIGN_OR_RETURN(const auto buckets, core::read_size(config, "relative_attention_num_buckets", 0, kVocabularyMax,
                                                          platform::path_to_utf8(file)));
  if (buckets.value_or(kMpnetBuckets) != kMpnetBuckets) {
    return unsupported_file(
        file, fmt::format("'relative_attention_num_buckets' is {}; only {} are supported", *buckets, kMpnetBuckets));
  }
  LB_RETURN_IF_ERROR(read_epsilon(config, "layer_norm_eps", file, sizes.epsilon));
  LB_ASSIGN_OR_RETURN(sizes.activation, read_activation(config, "hidden_act", file));
  return std::shared_ptr<const Network>(std::make_shared<const MpnetNetwork>(sizes));
}

}  // namespace latebind::embedding
