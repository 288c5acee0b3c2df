#include "embedding/pooling.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>

namespace latebind::embedding {
namespace {

constexpr float kCountMin = 1e-9F;
constexpr float kNormMin = 1e-12F;

void pool_mean(std::span<const float> states, std::span<float> out) {
  const std::size_t dimension = out.size();
  const std::size_t count = states.size() / dimension;
  std::fill(out.begin(), out.end(), 0.0F);
  float* const sum = out.data();
  for (std::size_t token = 0; token < count; ++token) {
    const float* const state = states.data() + token * dimension;
    for (std::size_t i = 0; i < dimension; ++i)
      sum[i] += state[i];
  }
  const float divisor = std::max(static_cast<float>(count), kCountMin);
  for (float& value : out)
    value /= divisor;
}

void pool_max(std::span<const float> states, std::span<float> out) {
  const std::size_t dimension = out.size();
  std::copy_n(states.begin(), dimension, out.begin());
  float* const largest = out.data();
  for (std::size_t at = dimension; at < states.size(); at += dimension) {
    const float* const state = states.data() + at;
    for (std::size_t i = 0; i < dimension; ++i)
      largest[i] = largest[i] < state[i] || std::isnan(state[i]) ? state[i] : largest[i];
  }
}

}  // namespace

void pool(PoolingMode mode, std::span<const float> states, std::span<float> out) {
  switch (mode) {
    case PoolingMode::kCls:
      std::copy_n(states.begin(), out.size(), out.begin());
      return;
    case PoolingMode::kLastToken:
      std::copy_n(states.end() - static_cast<std::ptrdiff_t>(out.size()), out.size(), out.begin());
      return;
    case PoolingMode::kMax:
      pool_max(states, out);
      return;
    case PoolingMode::kMean:
      pool_mean(states, out);
      return;
  }
}

void normalize(std::span<float> vector) {
  // Independent sums, so that the compiler may use vector instructions without reordering a single one.
  constexpr std::size_t kLanes = 16;
  std::array<float, kLanes> sums{};
  std::size_t i = 0;
  for (; i + kLanes <= vector.size(); i += kLanes) {
    for (std::size_t lane = 0; lane < kLanes; ++lane)
      sums[lane] += vector[i + lane] * vector[i + lane];
  }
  float sum = 0.0F;
  for (; i < vector.size(); ++i)
    sum += vector[i] * vector[i];
  for (const float lane : sums)
    sum += lane;
  const float divisor = std::max(std::sqrt(sum), kNormMin);
  for (float& value : vector)
    value /= divisor;
}

bool is_zero(std::span<const float> vector) {
  return std::ranges::all_of(vector, [](float value) { return value == 0.0F; });
}

bool is_finite(std::span<const float> vector) {
  // By its bits and without leaving early, so that the compiler may use vector instructions.
  constexpr std::uint32_t kExponent = 0x7F800000U;
  std::uint32_t found = 0;
  for (const float value : vector)
    found |= static_cast<std::uint32_t>((std::bit_cast<std::uint32_t>(value) & kExponent) == kExponent);
  return found == 0;
}

}  // namespace latebind::embedding
