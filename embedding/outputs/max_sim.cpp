#include "embedding/outputs/max_sim.h"

#include <algorithm>
#include <array>
#include <limits>

namespace latebind::embedding {
namespace {

// The number of partial sums of a product, and the number of query vectors that are multiplied with one document vector
// at once. Chosen for the registers of a processor.
constexpr std::size_t kSumsSideBySide = 16;
constexpr std::size_t kQueries = 4;

// Returns the products of kCount vectors, which are `dimension` numbers apart, with one vector.
template <std::size_t kCount>
std::array<float, kCount> products(const float* queries, const float* document, std::size_t dimension) {
  std::array<std::array<float, kSumsSideBySide>, kCount> sums{};
  std::size_t i = 0;
  for (; i + kSumsSideBySide <= dimension; i += kSumsSideBySide) {
    for (std::size_t q = 0; q < kCount; ++q) {
      for (std::size_t lane = 0; lane < kSumsSideBySide; ++lane)
        sums[q][lane] += queries[q * dimension + i + lane] * document[i + lane];
    }
  }
  std::array<float, kCount> found{};
  for (std::size_t q = 0; q < kCount; ++q) {
    for (std::size_t rest = i; rest < dimension; ++rest)
      sums[q][rest - i] += queries[q * dimension + rest] * document[rest];
    for (std::size_t half = kSumsSideBySide / 2; half > 0; half /= 2) {
      for (std::size_t lane = 0; lane < half; ++lane)
        sums[q][lane] += sums[q][lane + half];
    }
    found[q] = sums[q][0];
  }
  return found;
}

// Returns the sum of the largest products of kCount query vectors.
template <std::size_t kCount>
float sum_of_largest(const float* queries, std::span<const float> document, std::size_t dimension) {
  std::array<float, kCount> largest;
  largest.fill(-std::numeric_limits<float>::infinity());
  float nothing = 0;  // NaN if a product is not finite, which a maximum would hide
  for (std::size_t at = 0; at < document.size(); at += dimension) {
    const auto found = products<kCount>(queries, document.data() + at, dimension);
    for (std::size_t q = 0; q < kCount; ++q)
      largest[q] = std::max(largest[q], found[q]);
    for (const float product : found)
      nothing += product * 0.0F;
  }
  float sum = nothing;
  for (const float one : largest)
    sum += one;
  return sum;
}

}  // namespace

float max_sim(std::span<const float> query, std::span<const float> document, std::size_t dimension) {
  if (document.empty()) return kNoDocument;
  const std::size_t count = query.size() / dimension;
  float sum = 0;
  std::size_t q = 0;
  for (; q + kQueries <= count; q += kQueries)
    sum += sum_of_largest<kQueries>(query.data() + q * dimension, document, dimension);
  for (; q < count; ++q)
    sum += sum_of_largest<1>(query.data() + q * dimension, document, dimension);
  return sum;
}

float mean_max_sim(std::span<const float> query, std::span<const float> document, std::size_t dimension) {
  const std::size_t count = std::max<std::size_t>(1, query.size() / dimension);
  return max_sim(query, document, dimension) / static_cast<float>(count);
}

}  // namespace latebind::embedding
