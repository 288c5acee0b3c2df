// The functions of token positions in the definitions of the operators.
#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "core/graph/graph.h"

namespace latebind::graph {

std::int64_t bucket_of(const DistanceBias& bias, std::int64_t distance) {
  const std::int64_t half = bias.table.shape[0] / 2;
  const std::int64_t exact = half / 2;
  const std::int64_t behind = distance > 0 ? half : 0;
  const std::int64_t far = std::abs(distance);
  if (far < exact) return behind + far;
  // Logarithms are not exact. A quotient that should be a whole number must not be rounded down to the one before it.
  constexpr double kRounding = 1e-9;
  const auto of = [&](std::int64_t d) { return std::log(static_cast<double>(d) / static_cast<double>(exact)); };
  const double steps = of(far) / of(bias.farthest) * static_cast<double>(exact) + kRounding;
  return behind + std::min(half - 1, exact + static_cast<std::int64_t>(steps));
}

std::int64_t row_of(const Disentangled& terms, std::int64_t distance) {
  std::int64_t place = distance;
  const std::int64_t half = terms.span / 2;
  const std::int64_t far = std::abs(distance);
  if (terms.farthest && far > half) {
    const auto m = static_cast<float>(half);
    const float steps =
        std::log(static_cast<float>(far) / m) / std::log(static_cast<float>(*terms.farthest - 1) / m) * (m - 1);
    place = half + static_cast<std::int64_t>(std::ceil(steps));
    if (distance < 0) place = -place;
  }
  return std::clamp<std::int64_t>(place + terms.span, 0, 2 * terms.span - 1);
}

std::int64_t farthest_of(const Disentangled& terms) {
  std::int64_t distance = terms.span;
  while (row_of(terms, distance) != 2 * terms.span - 1 || row_of(terms, -distance) != 0)
    ++distance;
  return distance;
}

std::vector<float> rotary_frequencies(double base, std::int64_t width) {
  std::vector<float> frequencies;
  for (std::int64_t i = 0; i < width; i += 2) {
    const float exponent = static_cast<float>(i) / static_cast<float>(width);
    frequencies.push_back(1.0F / static_cast<float>(std::pow(base, static_cast<double>(exponent))));
  }
  return frequencies;
}

Turns turns_of(const Rotary& rotary) {
  Turns turns;
  for (std::int64_t position = 0; position < rotary.positions; ++position) {
    for (const float frequency : rotary.frequencies) {
      const float angle = static_cast<float>(position) * frequency;
      turns.cosines.push_back(rotary.factor * static_cast<float>(std::cos(static_cast<double>(angle))));
      turns.sines.push_back(rotary.factor * static_cast<float>(std::sin(static_cast<double>(angle))));
    }
  }
  return turns;
}

}  // namespace latebind::graph
