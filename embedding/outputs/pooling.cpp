#include "embedding/outputs/pooling.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

namespace latebind::embedding {
namespace {

constexpr float kCountMin = 1e-9F;
constexpr double kNormMin = 1e-12;
// The rounding error of the length of an f32 vector of length 1.
constexpr double kLengthSlack = 3e-7;

// Computes the sum and its divisor.
void pool_sum(PoolingMode mode, std::span<const float> states, std::span<float> out, std::size_t from) {
  const std::size_t dimension = out.size();
  const std::size_t count = states.size() / dimension;
  std::fill(out.begin(), out.end(), 0.0F);
  float* const sum = out.data();
  float weights = 0;
  for (std::size_t token = from; token < count; ++token) {
    const float* const state = states.data() + token * dimension;
    const float weight = mode == PoolingMode::kWeightedMean ? static_cast<float>(token + 1) : 1.0F;
    weights += weight;
    for (std::size_t i = 0; i < dimension; ++i)
      sum[i] += weight * state[i];
  }
  const float divisor = std::max(mode == PoolingMode::kMeanSqrt ? std::sqrt(weights) : weights, kCountMin);
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

void pool(PoolingMode mode, std::span<const float> states, std::span<float> out, std::size_t from) {
  const std::span<const float> pooled = states.subspan(from * out.size());
  switch (mode) {
    case PoolingMode::kCls:
      std::copy_n(pooled.begin(), out.size(), out.begin());
      return;
    case PoolingMode::kLastToken:
      std::copy_n(states.end() - static_cast<std::ptrdiff_t>(out.size()), out.size(), out.begin());
      return;
    case PoolingMode::kMax:
      pool_max(pooled, out);
      return;
    case PoolingMode::kMean:
    case PoolingMode::kMeanSqrt:
    case PoolingMode::kWeightedMean:
      pool_sum(mode, states, out, from);
      return;
  }
}

namespace {

// Computes in f64: the sum of thousands of squares is exact to the last bit of an f32.
double length_of(std::span<const float> vector) {
  // Independent sums let the compiler use vector instructions without reordering one sum.
  constexpr std::size_t kLanes = 16;
  std::array<double, kLanes> sums{};
  const auto square = [&](std::size_t i) { return static_cast<double>(vector[i]) * static_cast<double>(vector[i]); };
  std::size_t i = 0;
  for (; i + kLanes <= vector.size(); i += kLanes) {
    for (std::size_t lane = 0; lane < kLanes; ++lane)
      sums[lane] += square(i + lane);
  }
  double sum = 0;
  for (; i < vector.size(); ++i)
    sum += square(i);
  for (const double lane : sums)
    sum += lane;
  return std::sqrt(sum);
}

void divide(std::span<float> vector, double length) {
  const auto divisor = static_cast<float>(std::max(length, kNormMin));
  for (float& value : vector)
    value /= divisor;
}

}  // namespace

void normalize(std::span<float> vector) {
  divide(vector, length_of(vector));
}

void correct_length(std::span<float> vector) {
  const double length = length_of(vector);
  // The comparisons are false for a length that is not finite.
  const bool is_wrong = std::abs(length - 1.0) > kLengthSlack && length <= std::numeric_limits<float>::max();
  if (is_wrong) divide(vector, length);
}

bool is_zero(std::span<const float> vector) {
  return std::ranges::all_of(vector, [](float value) { return value == 0.0F; });
}

bool is_finite(std::span<const float> vector) {
  // Tests the bits and has no early exit, so that the compiler may use vector instructions.
  constexpr std::uint32_t kExponent = 0x7F800000U;
  std::uint32_t found = 0;
  for (const float value : vector)
    found |= static_cast<std::uint32_t>((std::bit_cast<std::uint32_t>(value) & kExponent) == kExponent);
  return found == 0;
}

}  // namespace latebind::embedding
