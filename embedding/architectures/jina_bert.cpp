#include "embedding/architectures/jina_bert.h"

#include <bit>
#include <cmath>
#include <utility>
#include <vector>

#include "embedding/architectures/encoder.h"

namespace latebind::embedding {
namespace {

using core::Json;
using core::Result;
using std::filesystem::path;

// Below "encoder.layer.N.".
constexpr LayerNames kJinaNames{.query = "attention.self.query",
                                .key = "attention.self.key",
                                .value = "attention.self.value",
                                .attended = "attention.output.dense",
                                .attended_norm = "attention.output.LayerNorm",
                                .wide_and_gate = "mlp.gated_layers",
                                .narrow = "mlp.wo",
                                .norm = "mlp.layernorm",
                                .wide_bias = false};

// The slopes of ALiBi. For n heads, with n a power of two, they are 2^(-8/n) and its powers. Otherwise they are those
// for the next lower power of two, followed by every other slope for twice as many heads.
std::vector<float> alibi_slopes(std::size_t heads) {
  const std::size_t power = std::bit_floor(heads);
  std::vector<float> slopes;
  for (std::size_t i = 0; i < heads; ++i) {
    const double exponent = i < power ? 8.0 * static_cast<double>(i + 1) / static_cast<double>(power)
                                      : 4.0 * static_cast<double>(2 * (i - power) + 1) / static_cast<double>(power);
    slopes.push_back(static_cast<float>(std::exp2(-exponent)));
  }
  return slopes;
}

}  // namespace

Result<std::shared_ptr<const Network>> read_jina_bert(const Json& config, const path& file) {
  LB_RETURN_IF_ERROR(refuse_variants(config, file, "alibi"));
  PlainEncoder jina{.prefix = "bert.", .names = kJinaNames};
  LB_RETURN_IF_ERROR(read_usual_sizes(config, file, jina.sizes));
  LB_RETURN_IF_ERROR(read_sizes(config, file, {{"type_vocab_size", kTokenTypesMax, &jina.token_type_count}}));
  LB_RETURN_IF_ERROR(read_epsilon(config, "layer_norm_eps", file, jina.sizes.epsilon));
  // This activation applies regardless of `hidden_act`.
  LB_RETURN_IF_ERROR(expect(config, file, "feed_forward_type", "geglu"));
  jina.terms.linear_bias = graph::LinearBias{.slopes = alibi_slopes(jina.sizes.heads),
                                             .positions = static_cast<std::int64_t>(jina.sizes.positions)};
  return make_plain_encoder(std::move(jina));
}

}  // namespace latebind::embedding
