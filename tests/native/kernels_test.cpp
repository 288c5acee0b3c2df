// Single kernels, on numbers that no network of the other tests has.
#include "backends/native/kernels/kernels.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cfenv>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "backends/native/memory/buffer.h"
#include "kit/reference/evaluator.h"
#include "support.h"

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
      const kit::Array wanted =
          kit::activate({{static_cast<std::int64_t>(numbers.size())}, {numbers.begin(), numbers.end()}}, function);
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

// Lighter keys have this weight.
constexpr double kLeastWeight = 0x1p-96;

// The weight of a key is the power of its score, to the last bits of f32, however much less likely it is: the scores
// are those of the first key, 0, and of others up to 120 below it.
TEST(KernelsTest, AttentionWeighsKeysByThePowersOfTheirScores) {
  constexpr std::size_t kTokens = 61;
  constexpr std::size_t kWidth = 2;
  std::vector<float> query(kTokens * kWidth);
  std::vector<float> key(kTokens * kWidth);
  std::vector<float> value(kTokens * kWidth);
  for (std::size_t t = 0; t < kTokens; ++t) {
    query[t * kWidth] = 1.0F;
    key[t * kWidth] = -2.0F * static_cast<float>(t) - (t > 0 ? 0.37F : 0.0F);
  }
  for (const Kernels* const kernels : all_kernels()) {
    if (!can_run(*kernels)) continue;
    const Product& product = kernels->f32;
    Buffer scratch(product.attention_scratch(kTokens, kWidth, 0));
    double sum = 0;
    for (std::size_t t = 0; t < kTokens; ++t)
      sum += std::exp(double{key[t * kWidth]});
    // The value of one token alone, so large that what comes of it is the token's weight.
    for (std::size_t t = 0; t < kTokens; ++t) {
      SCOPED_TRACE(fmt::format("{}, token {}", kernels->name, t));
      const double weight = std::exp(double{key[t * kWidth]}) / sum;
      if (weight < kLeastWeight) break;
      value.assign(value.size(), 0.0F);
      value[t * kWidth] = 1e5F;
      std::vector<float> out(kTokens * kWidth);
      product.attend(testing::head_of(query.data(), key.data(), value.data(), out.data(), kTokens, kWidth),
                     scratch.data());
      // A score so far below is known to some 2⁻²⁴ of itself alone.
      EXPECT_NEAR(out[0] / 1e5F / weight, 1.0, 5e-7 + 3e-7 * static_cast<double>(t));
    }
  }
}

// Keys that count for nothing cost no more than others: there are no subnormal numbers on the way, which some
// processors compute ten times more slowly. ALiBi has such keys at the beginning of each long text.
TEST(KernelsTest, KeysOfNoWeightMakeNoSubnormalNumbers) {
  constexpr std::size_t kTokens = 150;
  constexpr std::size_t kWidth = 16;
  const std::vector<float> vectors(kTokens * kWidth, 0.0F);
  const std::vector<float> value(kTokens * kWidth, 0.7F);  // whose subnormal products are rounded, which shows
  std::vector<float> bias;
  for (std::size_t i = 0; i < 2 * kTokens - 1; ++i)
    bias.push_back(-2.0F * std::abs(static_cast<float>(i) - static_cast<float>(kTokens - 1)));
  for (const Kernels* const kernels : all_kernels()) {
    if (!can_run(*kernels)) continue;
    SCOPED_TRACE(kernels->name);
    Buffer scratch(kernels->f32.attention_scratch(kTokens, kWidth, 0));
    std::vector<float> out(kTokens * kWidth);
    AttentionHead head = testing::head_of(vectors.data(), vectors.data(), value.data(), out.data(), kTokens, kWidth);
    head.distance_bias = bias.data();
    head.farthest = kTokens - 1;
    std::feclearexcept(FE_ALL_EXCEPT);
    kernels->f32.attend(head, scratch.data());
    EXPECT_EQ(std::fetestexcept(FE_UNDERFLOW), 0);
    for (const float number : out)
      EXPECT_NEAR(number, 0.7, 1e-6);
  }
}

// What a panel is followed by is asked for, and not looked at: it need not be there.
TEST(KernelsTest, WhatIsMultipliedByAfterwardsIsOfNoMeaning) {
  constexpr std::size_t kRowsMost = 40;
  constexpr std::size_t kInner = 8;
  const std::vector<float> a(kRowsMost * kInner, 0.5F);
  for (const Kernels* const kernels : all_kernels()) {
    if (!can_run(*kernels)) continue;
    const std::size_t columns = kernels->panel_columns;
    Buffer panel(columns * kInner);
    std::fill_n(panel.data(), columns * kInner, 0.25F);
    for (const std::size_t rows : {std::size_t{1}, kRowsMost}) {
      SCOPED_TRACE(fmt::format("{}, {} rows", kernels->name, rows));
      std::vector<float> y(rows * columns);
      const auto* const nowhere = reinterpret_cast<const float*>(std::uintptr_t{64});
      kernels->f32.multiply({a.data(), rows, kInner}, {panel.data(), kInner, columns, nowhere}, 0, 1, nullptr,
                            {y.data(), rows, columns});
      EXPECT_EQ(y, std::vector<float>(rows * columns, 1.0F));
    }
  }
}

}  // namespace
}  // namespace latebind::native
