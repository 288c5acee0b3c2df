// Single kernels, on numbers that no network of the other tests has.
#include "backends/native/kernels/kernels.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "tests/core/graph/evaluator.h"

namespace latebind::native {
namespace {

// Of any size, as the operator says; and what is not finite stays so.
TEST(KernelsTest, ActivationsOfExtremeNumbers) {
  using graph::ActivationFunction;
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  std::vector<float> numbers{0.0F, std::numeric_limits<float>::denorm_min(), std::numeric_limits<float>::min(),
                             std::numeric_limits<float>::max(), kInfinity};
  for (float number = 1e-44F; number < 1e38F; number *= 3.7F)
    numbers.push_back(number);
  const std::size_t half = numbers.size();
  for (std::size_t i = 0; i < half; ++i)
    numbers.push_back(-numbers[i]);
  numbers.push_back(std::numeric_limits<float>::quiet_NaN());
  for (const Kernels* const kernels : all_kernels()) {
    if (!can_run(*kernels)) continue;
    for (const auto function : {ActivationFunction::kGeluErf, ActivationFunction::kGeluTanh, ActivationFunction::kTanh,
                                ActivationFunction::kSilu, ActivationFunction::kRelu}) {
      std::vector<float> found = numbers;
      kernels->activate(function, {found.data(), 1, found.size()}, found.size());
      const graph::testing::Array wanted = graph::testing::activate(
          {{static_cast<std::int64_t>(numbers.size())}, {numbers.begin(), numbers.end()}}, function);
      for (std::size_t i = 0; i < numbers.size(); ++i) {
        SCOPED_TRACE(fmt::format("{}, function {}, of {}", kernels->name, static_cast<int>(function), numbers[i]));
        if (!std::isfinite(wanted.values[i])) {
          EXPECT_FALSE(std::isfinite(found[i])) << found[i];
        } else if (std::isfinite(numbers[i])) {
          EXPECT_NEAR(found[i], wanted.values[i], 1e-6 * std::max(1.0, std::abs(wanted.values[i])));
        }
      }
    }
  }
}

}  // namespace
}  // namespace latebind::native
