#include "embedding/sparse_vector.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace latebind::embedding {

void read_sparse(std::span<const float> term_logits, const SparseRule& rule, SparseVector& out) {
  out.indices.clear();
  out.values.clear();
  bool is_finite = true;
  for (std::size_t i = 0; i < term_logits.size(); ++i) {
    const float logit = term_logits[i];
    if (logit <= 0) continue;
    const float once = std::log1p(logit);
    const float weight = rule.log_twice ? std::log1p(once) : once;
    is_finite = is_finite && std::isfinite(weight);
    out.indices.push_back(static_cast<std::uint32_t>(i));
    out.values.push_back(weight);
  }
  // Others have no order; who asked for them hears of them.
  if (rule.most > 0 && is_finite) keep_largest(out, rule.most);
}

void keep_largest(SparseVector& vector, std::size_t most) {
  if (vector.values.size() <= most) return;
  std::vector<std::size_t> order(vector.values.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::nth_element(order, order.begin() + static_cast<std::ptrdiff_t>(most), [&](std::size_t a, std::size_t b) {
    return vector.values[a] != vector.values[b] ? vector.values[a] > vector.values[b] : a < b;
  });
  order.resize(most);
  std::ranges::sort(order);
  for (std::size_t i = 0; i < most; ++i) {
    vector.indices[i] = vector.indices[order[i]];
    vector.values[i] = vector.values[order[i]];
  }
  vector.indices.resize(most);
  vector.values.resize(most);
}

}  // namespace latebind::embedding
