#include "kit/reference/attention.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <vector>

#include "core/graph/graph.h"

namespace latebind::kit {
namespace {

// Rotates x, which is [B,T,..], by the angles of each token's position.
Array turned(const Array& x, graph::Rotary rotary) {
  // Also computes texts beyond rotary.positions, which the engine refuses.
  rotary.positions = x.shape[1];
  const graph::Turns turns = graph::turns_of(rotary);
  const auto half = static_cast<std::int64_t>(rotary.frequencies.size());
  const std::int64_t width = 2 * half;
  Array out{x.shape, {}};
  for_each(x.shape, [&](const Dims& index) {
    const std::int64_t column = index[2] % width;
    const std::size_t angle = to_size(index[1] * half + column % half);
    const bool is_first = column < half;
    const double other = at(x, {index[0], index[1], index[2] + (is_first ? half : -half)});
    out.values.push_back(at(x, index) * turns.cosines.at(angle) + (is_first ? -other : other) * turns.sines.at(angle));
  });
  return out;
}

class Attender {
 public:
  Attender(const graph::Attention& op, const AttentionOperands& operands,
           const std::function<double(double, double)>& add)
      : op_(op),
        operands_(operands),
        add_(add),
        query_(op.rotary ? turned(*operands.query, *op.rotary) : *operands.query),
        key_(op.rotary ? turned(*operands.key, *op.rotary) : *operands.key),
        tokens_(query_.shape[1]),
        width_(query_.shape[2] / op.heads) {}

  [[nodiscard]] Array run() const {
    const Array& value = *operands_.value;
    Array out{query_.shape, {}};
    for_each({query_.shape[0], tokens_, op_.heads}, [&](const Dims& index) {
      const std::vector<double> shares = shares_of(index);
      const std::int64_t first = key_head_of(index[2]) * width_;
      for (std::int64_t i = first; i < first + width_; ++i) {
        double sum = 0;
        for (std::int64_t s = 0; s < tokens_; ++s)
          sum = add_(sum, shares[to_size(s)] * row_of_token(value, index[0], s)[i]);
        out.values.push_back(sum);
      }
    });
    return out;
  }

 private:
  // Returns the share of each token in the result of one head for one token; `index` is [text, token, head].
  [[nodiscard]] std::vector<double> shares_of(const Dims& index) const {
    std::vector<double> shares;
    for (std::int64_t s = 0; s < tokens_; ++s) {
      const bool is_seen = !op_.causal || s <= index[1];
      const bool is_near = is_seen && (!op_.window || std::abs(s - index[1]) <= *op_.window);
      const bool is_kept = is_near && operands_.mask->values[to_size(index[0] * tokens_ + s)] == 1;
      shares.push_back(is_kept ? score_of(index, s) : -std::numeric_limits<double>::infinity());
    }
    const double most = std::ranges::max(shares);
    if (!std::isinf(most) || most > 0) {
      softmax(shares);
    } else {
      // An unattended token that sees no other gets 0. For padding that is far from every token, the result is
      // unspecified but finite.
      std::ranges::fill(shares, op_.may_be_unattended ? 0 : 1.0 / static_cast<double>(tokens_));
    }
    return shares;
  }

  [[nodiscard]] double score_of(const Dims& index, std::int64_t s) const {
    const std::int64_t head = index[2];
    const std::int64_t distance = s - index[1];
    const double* const query = row_of_token(query_, index[0], index[1]) + head * width_;
    const double* const key = row_of_token(key_, index[0], s) + key_head_of(head) * width_;
    double product = 0;
    for (std::int64_t i = 0; i < width_; ++i)
      product = add_(product, query[i] * key[i]);
    if (op_.disentangled) {
      const std::int64_t row = graph::row_of(*op_.disentangled, -distance);
      for (std::int64_t i = 0; i < width_; ++i) {
        const Dims place{row, head * width_ + i};
        if (op_.disentangled->keys) product = add_(product, query[i] * at(*operands_.disentangled_keys, place));
        if (op_.disentangled->queries) product = add_(product, key[i] * at(*operands_.disentangled_queries, place));
      }
    }
    double score = op_.scale * product;
    if (op_.soft_cap) score = *op_.soft_cap * std::tanh(score / *op_.soft_cap);
    if (op_.distance_bias)
      score += at(*operands_.distance_bias, {graph::bucket_of(*op_.distance_bias, distance), head});
    if (op_.linear_bias)
      score -= static_cast<double>(op_.linear_bias->slopes[to_size(head)]) * static_cast<double>(std::abs(distance));
    return score;
  }

  [[nodiscard]] std::int64_t key_head_of(std::int64_t head) const { return head * op_.key_heads / op_.heads; }
  [[nodiscard]] const double* row_of_token(const Array& array, std::int64_t text, std::int64_t token) const {
    return array.values.data() + (text * tokens_ + token) * array.shape[2];
  }

  const graph::Attention& op_;
  const AttentionOperands& operands_;
  const std::function<double(double, double)>& add_;
  const Array query_;
  const Array key_;
  const std::int64_t tokens_;
  const std::int64_t width_;  // of a head
};

}  // namespace

Array attend(const graph::Attention& op, const AttentionOperands& operands,
             const std::function<double(double, double)>& add) {
  return Attender(op, operands, add).run();
}

}  // namespace latebind::kit
