#include "embedding/outputs/sparse_vector.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace latebind::embedding {

namespace {

float weight_of(float logit, const SparseRule& rule) {
  if (rule.plain) return logit;
  const float once = std::log1p(logit);
  return rule.log_twice ? std::log1p(once) : once;
}

// Collects weight(numbers[i]) of the numbers that are above zero or NaN.
template <class Weight>
void collect(std::span<const float> numbers, std::size_t most, const Weight& weight, SparseVector& out) {
  out.indices.clear();
  out.values.clear();
  bool is_finite = true;
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    if (numbers[i] <= 0) continue;
    out.indices.push_back(static_cast<std::uint32_t>(i));
    out.values.push_back(weight(numbers[i]));
    is_finite = is_finite && std::isfinite(out.values.back());
  }
  // NaN has no order, so all weights are kept and the scheduler reports the fault.
  if (most > 0 && is_finite) keep_largest(out, most);
}

}  // namespace

void read_sparse(std::span<const float> term_logits, const SparseRule& rule, SparseVector& out) {
  collect(
      term_logits, rule.most, [&rule](float logit) { return weight_of(logit, rule); }, out);
}

void sum_sparse(std::span<const float> term_logits, const SparseRule& rule, std::span<float> sums, SparseVector& out) {
  std::ranges::fill(sums, 0.0F);
  for (std::size_t token = 0; token + sums.size() <= term_logits.size(); token += sums.size()) {
    for (std::size_t i = 0; i < sums.size(); ++i) {
      const float logit = term_logits[token + i];
      if (logit <= 0) continue;
      sums[i] += weight_of(logit, rule);
    }
  }
  collect(
      sums, rule.most, [](float sum) { return sum; }, out);
}

double dot(const SparseVector& a, const SparseVector& b) {
  double sum = 0;
  std::size_t other = 0;
  for (std::size_t i = 0; i < a.indices.size(); ++i) {
    while (other < b.indices.size() && b.indices[other] < a.indices[i])
      ++other;
    if (other == b.indices.size()) break;
    if (b.indices[other] == a.indices[i])
      sum += static_cast<double>(a.values[i]) * static_cast<double>(b.values[other]);
  }
  return sum;
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
