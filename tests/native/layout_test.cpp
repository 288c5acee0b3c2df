// Which slots need a row for each token.
#include <gtest/gtest.h>

#include <memory>
#include <utility>

#include "backends/native/plan/plan.h"
#include "support.h"

namespace latebind::native {
namespace {

Plan plan_of(const testing::EncoderShape& shape) {
  auto graph = testing::encoder(shape);
  EXPECT_TRUE(graph.ok()) << graph.status().to_string();
  const Kernels& kernels = *all_kernels().back();
  const auto shared = std::make_shared<const graph::Graph>(*std::move(graph));
  auto plan = make_plan(shared, WeightFiles(*shared), kernels, kernels.f32);
  EXPECT_TRUE(plan.ok()) << plan.status().to_string();
  return *std::move(plan);
}

// Slots of what the steps of one kind use.
template <class AStep, class Slots>
void expect_full(const Plan& plan, bool is_full, Slots slots) {
  std::size_t count = 0;
  for (const Step& step : plan.steps) {
    const auto* const found = std::get_if<AStep>(&step.what);
    if (found == nullptr) continue;
    for (const Slot slot : slots(*found)) {
      ++count;
      EXPECT_EQ(plan.layout.places[slot].is_full, is_full) << slot;
    }
  }
  EXPECT_GT(count, 0U);
}

TEST(LayoutTest, WhatAttentionAndPoolingUseHasARowForEachToken) {
  const Plan plan = plan_of({});
  expect_full<Attend>(plan, true, [](const Attend& s) { return std::vector<Slot>{s.query, s.key, s.value, s.y}; });
  ASSERT_TRUE(plan.pooling);
  EXPECT_TRUE(plan.layout.places[plan.pooling->x].is_full);
  EXPECT_TRUE(plan.layout.places[plan.results.front().slot].is_full);
}

TEST(LayoutTest, TheWidePartOfFeedForwardHasNone) {
  testing::EncoderShape shape;
  shape.intermediate = 5 * shape.hidden + 1;
  const Plan plan = plan_of(shape);
  expect_full<Activate>(plan, false, [](const Activate& s) { return std::vector<Slot>{s.x}; });
  EXPECT_LT(plan.layout.size(1000, 56), plan.layout.size(1000, 1000));
}

TEST(LayoutTest, NoSlotLiesInAnother) {
  const Plan plan = plan_of({});
  constexpr std::size_t kTokens = 100;
  constexpr std::size_t kAtATime = 7;
  std::vector<bool> taken(plan.layout.size(kTokens, kAtATime));
  for (Slot slot = 0; slot < plan.widths.size(); ++slot) {
    const Layout::Place& place = plan.layout.places[slot];
    const std::size_t begin = plan.layout.begin(slot, kTokens, kAtATime);
    const std::size_t size = place.stride * (place.is_full ? kTokens : kAtATime);
    EXPECT_GE(place.stride, plan.widths[slot]);
    ASSERT_LE(begin + size, taken.size());
    for (std::size_t i = begin; i < begin + size; ++i) {
      ASSERT_FALSE(taken[i]) << slot;
      taken[i] = true;
    }
  }
}

}  // namespace
}  // namespace latebind::native
