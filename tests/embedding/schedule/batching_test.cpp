#include "embedding/schedule/batching.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <functional>
#include <numeric>
#include <random>
#include <set>
#include <span>
#include <vector>

namespace latebind::embedding {
namespace {

using ::testing::ElementsAre;

std::vector<std::uint32_t> random_lengths(std::mt19937& random, std::size_t count) {
  std::uniform_int_distribution<std::uint32_t> length(0, 600);
  std::vector<std::uint32_t> lengths(count);
  for (auto& value : lengths)
    value = length(random) % 7 == 0 ? length(random) : length(random) % 40;
  return lengths;
}

TEST(BatchingTest, EachTextIsInExactlyOneBatchAndEveryBatchKeepsTheBudget) {
  std::mt19937 random(11);
  for (int round = 0; round < 300; ++round) {
    const auto lengths = random_lengths(random, random() % 500);
    const BatchLimits limits{1 + random() % 700, 1 + random() % 5, random() % 2 == 0};
    const BatchPlan plan = plan_batches(lengths, limits);

    ASSERT_EQ(std::set(plan.order.begin(), plan.order.end()).size(), lengths.size());
    std::size_t next = 0;
    std::uint64_t tokens = 0;
    std::uint64_t padded = 0;
    for (const Batch& batch : plan.batches) {
      ASSERT_EQ(batch.first, next);
      ASSERT_GT(batch.count, 0U);
      next += batch.count;
      ASSERT_LE(next, lengths.size());
      if (batch.count > 1) {
        ASSERT_LE(batch.count * batch.width, limits.tokens);
      }
      for (std::size_t i = batch.first; i < next; ++i) {
        const std::uint32_t length = lengths[plan.order[i]];
        ASSERT_GT(length, 0U);
        ASSERT_LE(length, batch.width);
        tokens += length;
      }
      padded += batch.count * batch.width;
    }
    for (std::size_t i = next; i < lengths.size(); ++i)
      ASSERT_EQ(lengths[plan.order[i]], 0U);
    ASSERT_EQ(plan.tokens, tokens);
    ASSERT_EQ(plan.padded_tokens, padded);
  }
}

TEST(BatchingTest, TheLongestTextsComeFirstAndEqualOnesKeepTheirOrder) {
  const std::vector<std::uint32_t> lengths{3, 9, 3, 0, 9, 4};
  const BatchPlan plan = plan_batches(lengths, {100, 1, false});
  EXPECT_EQ(plan.order, (std::vector<std::uint32_t>{1, 4, 5, 0, 2, 3}));
  ASSERT_EQ(plan.batches.size(), 1U);
  EXPECT_EQ(plan.batches[0].width, 9U);
  EXPECT_EQ(plan.batches[0].count, 5U);
  EXPECT_EQ(plan.tokens, 28U);
  EXPECT_EQ(plan.padded_tokens, 45U);
}

TEST(BatchingTest, ATextLongerThanTheBudgetIsAlone) {
  const std::vector<std::uint32_t> lengths{10, 500, 10, 10};
  const BatchPlan plan = plan_batches(lengths, {32, 1, false});
  ASSERT_EQ(plan.batches.size(), 2U);
  EXPECT_EQ(plan.batches[0].count, 1U);
  EXPECT_EQ(plan.batches[0].width, 500U);
  EXPECT_EQ(plan.batches[1].count, 3U);
}

TEST(BatchingTest, NoTextMakesNoBatch) {
  const BatchPlan plan = plan_batches({}, {});
  EXPECT_TRUE(plan.order.empty());
  EXPECT_TRUE(plan.batches.empty());
}

TEST(BatchingTest, EqualLengthsOnAStepCostNoPadding) {
  const std::vector<std::uint32_t> lengths(1000, 18);
  const BatchPlan plan = plan_batches(lengths, {512, 4, false});
  EXPECT_EQ(plan.tokens, plan.padded_tokens);
}

TEST(BatchingTest, SeveralWorkersShareAFewTexts) {
  const std::vector<std::uint32_t> lengths(64, 32);  // as many tokens as one batch may have
  EXPECT_EQ(plan_batches(lengths, {2048, 1, false}).batches.size(), 1U);
  EXPECT_GE(plan_batches(lengths, {2048, 4, false}).batches.size(), 4U);
  EXPECT_EQ(plan_batches(lengths, {2048, 4, true}).batches.size(), 1U);
}

TEST(BatchingTest, LargeBatchesThatAreNotFullHaveAPowerOfTwoOfRows) {
  std::mt19937 random(11);
  for (const std::size_t workers : {1U, 4U}) {
    const auto lengths = random_lengths(random, 3001);
    const BatchPlan plan = plan_batches(lengths, {2048, workers, false});
    for (const Batch& batch : plan.batches)
      EXPECT_TRUE(batch.count <= 8 || batch.count == 2048 / batch.width || std::has_single_bit(batch.count))
          << batch.count;
  }
}

TEST(BatchingTest, WorkersFinishAboutTogether) {
  std::mt19937 random(5);
  const auto lengths = random_lengths(random, 2000);
  constexpr std::size_t kWorkers = 4;
  const BatchPlan plan = plan_batches(lengths, {2048, kWorkers, false});
  // Each batch goes to the worker that is free first; a token costs one unit of time.
  std::vector<std::size_t> busy_until(kWorkers, 0);
  for (const Batch& batch : plan.batches) {
    *std::min_element(busy_until.begin(), busy_until.end()) += batch.count * batch.width;
  }
  const auto [least, most] = std::minmax_element(busy_until.begin(), busy_until.end());
  EXPECT_LE(*most - *least, 512U);
}

TEST(BatchingTest, WithoutPaddingWhatIsLeftIsSharedOutEvenly) {
  const BatchShape shape{.tokens = 2048, .without_padding = true};
  EXPECT_EQ(shape.next_tokens(100'000, 2), 256U);
  EXPECT_EQ(shape.next_tokens(401, 2), 201U);
  EXPECT_EQ(shape.next_tokens(401, 1), 256U);
  EXPECT_EQ(shape.next_tokens(60, 2), 128U) << "less is not worth a run";
  EXPECT_EQ((BatchShape{.tokens = 30, .without_padding = true}.next_tokens(60, 2)), 30U);
}

TEST(BatchingTest, StaticShapesTakeEachTextInTheShortestThatFits) {
  const std::vector<std::size_t> fixed{8, 16, 32};
  const std::vector<std::uint32_t> lengths{3, 8, 9, 30, 5, 16, 40, 7, 0};
  const BatchPlan plan = plan_batches(lengths, {.workers = 4, .static_lengths = fixed, .static_rows = 2});
  std::vector<std::pair<std::size_t, std::size_t>> shapes;
  for (const Batch& batch : plan.batches) {
    shapes.emplace_back(batch.count, batch.width);
    for (std::size_t i = batch.first; i < batch.first + batch.count; ++i)
      EXPECT_LE(lengths[plan.order[i]], batch.width);
  }
  EXPECT_EQ(shapes, (std::vector<std::pair<std::size_t, std::size_t>>{{1, 40}, {1, 32}, {2, 16}, {2, 8}, {2, 8}}));
  // Two rows of each shape are computed, used or not.
  EXPECT_EQ(plan.padded_tokens, 2U * (40 + 32 + 16 + 8 + 8));
  EXPECT_EQ(plan.tokens, 118U);
}

// What a division costs, and of all divisions the least.
std::uint64_t cost_of(std::size_t rows, std::size_t width, const ReadyShapes& ready) {
  const bool is_new = ready.matters() && !ready.has({rows, width});
  return rows * width + kRunTokens + (is_new ? kNewShapeTokens : 0);
}

std::uint64_t cost_of(const std::vector<Batch>& batches, const ReadyShapes& ready = {}) {
  std::uint64_t cost = 0;
  for (const Batch& batch : batches)
    cost += cost_of(batch.count, batch.width, ready);
  return cost;
}

std::uint64_t least_cost(std::span<const std::uint32_t> lengths, const BatchShape& shape,
                         const ReadyShapes& ready = {}) {
  if (lengths.empty()) return 0;
  std::uint64_t least = cost_of(1, lengths[0], ready) + least_cost(lengths.subspan(1), shape, ready);
  const auto consider = [&](std::size_t rows, std::size_t width) {
    least = std::min(least, cost_of(rows, width, ready) + least_cost(lengths.subspan(rows), shape, ready));
  };
  for (std::size_t rows = 2; rows <= lengths.size(); ++rows) {
    if (const std::size_t width = shape.width(lengths[0]); shape.allows(rows, width)) consider(rows, width);
  }
  for (const ReadyShape& one : ready.all()) {
    if (one.width >= lengths[0] && one.rows <= lengths.size()) consider(one.rows, one.width);
  }
  return least;
}

TEST(DivideTest, WithoutPaddingBatchesAreAsLargeAsTheirTokensAllow) {
  const std::vector<std::uint32_t> lengths{90, 60, 30, 20, 20, 20, 10, 5, 5, 5};
  const BatchShape shape{.tokens = 100, .without_padding = true};
  const auto batches = divide(lengths, shape, {});
  std::vector<std::uint64_t> tokens;
  std::size_t next = 0;
  for (const Batch& batch : batches) {
    EXPECT_EQ(batch.first, next);
    EXPECT_EQ(batch.width, lengths[batch.first]);
    next += batch.count;
    tokens.push_back(std::accumulate(&lengths[batch.first], &lengths[batch.first] + batch.count, std::uint64_t{0}));
  }
  EXPECT_EQ(next, lengths.size());
  EXPECT_THAT(tokens, ElementsAre(90, 90, 85));
}

// Should another device have to compute them after all.
TEST(DivideTest, WithoutPaddingTensorsAreNotMuchLargerThanTheirTokens) {
  std::vector<std::uint32_t> lengths(3000, 1);
  lengths[0] = 1000;
  for (const Batch& batch : divide(lengths, {.tokens = 2048, .without_padding = true}, {}))
    EXPECT_LE(batch.count * batch.width, 4 * 2048U);
}

// Of all divisions into neighbours, by what runs of packed tokens cost.
std::uint64_t least_packed_cost(std::span<const std::uint32_t> lengths, const BatchShape& shape) {
  if (lengths.empty()) return 0;
  std::uint64_t least =
      BatchShape::packed_cost(lengths[0], 1, lengths[0]) + least_packed_cost(lengths.subspan(1), shape);
  const std::size_t width = shape.width(lengths[0]);
  std::uint64_t tokens = lengths[0];
  for (std::size_t rows = 2; rows <= std::min(lengths.size(), shape.packed_rows_max(width)); ++rows) {
    tokens += lengths[rows - 1];
    if (tokens > shape.tokens) break;
    least =
        std::min(least, BatchShape::packed_cost(tokens, rows, width) + least_packed_cost(lengths.subspan(rows), shape));
  }
  return least;
}

TEST(DivideTest, PackedTokensAreDividedAtTheLeastCost) {
  std::mt19937 random(9);
  for (int round = 0; round < 100; ++round) {
    std::vector<std::uint32_t> lengths(1 + random() % 12);
    for (std::uint32_t& length : lengths)
      length = 1 + static_cast<std::uint32_t>(random() % (round % 2 == 0 ? 40 : 400));
    std::ranges::sort(lengths, std::greater<>());
    const BatchShape shape{.tokens = 256, .packs_tokens = true};
    std::uint64_t cost = 0;
    std::size_t next = 0;
    for (const Batch& batch : divide(lengths, shape, {})) {
      EXPECT_EQ(batch.first, next);
      next += batch.count;
      const std::span<const std::uint32_t> texts(&lengths[batch.first], batch.count);
      EXPECT_EQ(batch.width, batch.count == 1 ? texts[0] : shape.width(texts[0]));
      const auto tokens = std::accumulate(texts.begin(), texts.end(), std::uint64_t{0});
      EXPECT_TRUE(batch.count == 1 || tokens <= shape.tokens);
      EXPECT_TRUE(batch.count == 1 || batch.count * batch.width <= 2 * shape.tokens);
      cost += BatchShape::packed_cost(tokens, batch.count, batch.width);
    }
    EXPECT_EQ(next, lengths.size());
    EXPECT_EQ(cost, least_packed_cost(lengths, shape));
  }
}

// Padding costs attention alone: texts of other lengths come along as long as that is less than a run.
TEST(DivideTest, PackedTextsOfOtherLengthsShareABatch) {
  const std::vector<std::uint32_t> lengths{24, 20, 12, 8, 5, 3};
  EXPECT_EQ(divide(lengths, {.tokens = 1024, .packs_tokens = true}, {}).size(), 1U);
  EXPECT_GT(divide(lengths, {.tokens = 1024}, {}).size(), 1U);
  const std::vector<std::uint32_t> far{500, 3, 3, 3, 3, 3, 3, 3};
  EXPECT_EQ(divide(far, {.tokens = 1024, .packs_tokens = true}, {}).size(), 2U);
}

TEST(BatchingTest, OfPackedTokensNoPaddingIsCounted) {
  const std::vector<std::uint32_t> lengths{3, 9, 27};
  const BatchPlan plan = plan_batches(lengths, {.tokens = 100, .packs_tokens = true});
  EXPECT_EQ(plan.tokens, 39U);
  EXPECT_EQ(plan.padded_tokens, 39U);
}

TEST(BatchingTest, WithoutPaddingNoneIsCounted) {
  const std::vector<std::uint32_t> lengths{3, 9, 27};
  const BatchPlan plan = plan_batches(lengths, {.tokens = 100, .without_padding = true});
  EXPECT_EQ(plan.batches.size(), 1U);
  EXPECT_EQ(plan.tokens, 39U);
  EXPECT_EQ(plan.padded_tokens, 39U);
}

TEST(DivideTest, NoOtherDivisionCostsLess) {
  std::mt19937 random(7);
  for (int round = 0; round < 300; ++round) {
    std::vector<std::uint32_t> lengths(1 + random() % 12);
    const std::uint32_t longest = static_cast<std::uint32_t>(1 + random() % 200);
    for (auto& length : lengths)
      length = static_cast<std::uint32_t>(1 + random() % longest);
    std::ranges::sort(lengths, std::greater<>());
    const BatchShape shape{.tokens = 64 + random() % 1024, .longest = 256};
    const auto batches = divide(lengths, shape, {});
    std::size_t next = 0;
    for (const Batch& batch : batches) {
      EXPECT_EQ(batch.first, next);
      next += batch.count;
      EXPECT_GE(batch.width, lengths[batch.first]);
      EXPECT_TRUE(batch.count == 1 || shape.allows(batch.count, batch.width));
    }
    EXPECT_EQ(next, lengths.size());
    EXPECT_EQ(cost_of(batches), least_cost(lengths, shape));
  }
}

TEST(DivideTest, NoOtherDivisionCostsLessWithWhatIsReady) {
  std::mt19937 random(9);
  for (int round = 0; round < 100; ++round) {
    std::vector<std::uint32_t> lengths(1 + random() % 9);
    for (auto& length : lengths)
      length = static_cast<std::uint32_t>(1 + random() % 100);
    std::ranges::sort(lengths, std::greater<>());
    const BatchShape shape{.tokens = 1024, .longest = 256};
    ReadyShapes ready;
    ready.keep(6);
    for (int i = 0; i < 6; ++i)
      ready.use({1 + random() % 8, 1 + random() % 120});
    EXPECT_EQ(cost_of(divide(lengths, shape, {}, ready), ready), least_cost(lengths, shape, ready));
  }
}

TEST(DivideTest, AShapeThatIsReadyIsTakenAsFarAsThatPays) {
  const std::vector<std::uint32_t> lengths(4, 34);
  const BatchShape shape{.tokens = 1024, .longest = 256};
  const auto width_with = [&](std::size_t ready_width) {
    ReadyShapes ready;
    ready.keep(2);
    ready.use({4, ready_width});
    const auto batches = divide(lengths, shape, {}, ready);
    return batches.size() == 1 ? batches.front().width : 0;
  };
  EXPECT_EQ(width_with(38), 38U);
  EXPECT_EQ(width_with(60), 36U);  // as without
  EXPECT_EQ(width_with(30), 36U);  // too narrow
}

TEST(ReadyShapesTest, AreThoseUsedLast) {
  ReadyShapes ready;
  ready.use({1, 1});
  EXPECT_FALSE(ready.matters());
  EXPECT_FALSE(ready.has({1, 1}));
  ready.keep(3);
  for (const std::size_t width : {1U, 2U, 3U, 1U, 4U})
    ready.use({1, width});
  EXPECT_THAT(ready.all(), ElementsAre(ReadyShape{1, 3}, ReadyShape{1, 1}, ReadyShape{1, 4}));
  ready.keep(2);
  EXPECT_THAT(ready.all(), ElementsAre(ReadyShape{1, 1}, ReadyShape{1, 4}));
  ready.keep(1000);
  for (std::size_t width = 1; width <= 1000; ++width)
    ready.use({2, width});
  EXPECT_EQ(ready.all().size(), ReadyShapes::kMost);
  EXPECT_TRUE(ready.has({2, 1000}));
}

TEST(DivideTest, AFewTextsOfManyLengthsAreNotPaddedToTheLongest) {
  const std::vector<std::uint32_t> lengths{208, 198, 40, 38, 12, 11, 10, 9};
  const auto batches = divide(lengths, {.tokens = 2048, .longest = 256}, {});
  ASSERT_EQ(batches.size(), 3U);
  EXPECT_EQ(batches[0].count, 2U);
  EXPECT_EQ(batches[1].count, 2U);
  EXPECT_EQ(batches[2].count, 4U);
}

TEST(DivideTest, WhatIsLeftForOthersIsNotTakenAway) {
  const std::vector<std::uint32_t> lengths(64, 16);
  const auto alone = divide(lengths, {.tokens = 2048, .longest = 256}, {.workers = 2});
  EXPECT_LT(alone.front().count, 64U);
  const auto busy = divide(lengths, {.tokens = 2048, .longest = 256}, {.workers = 2, .later_tokens = 1U << 20U});
  EXPECT_EQ(busy.front().count, 64U);
}

TEST(BatchShapeTest, WidthsGoInStepsAndNotBeyondTheLongest) {
  const BatchShape shape{.tokens = 2048, .longest = 500};
  for (const auto& [length, width] :
       {std::pair{1U, 1U}, {15U, 15U}, {31U, 32U}, {33U, 36U}, {65U, 72U}, {470U, 480U}, {499U, 500U}, {512U, 512U}}) {
    EXPECT_EQ(shape.width(length), width) << length;
    EXPECT_EQ(shape.width(width), width) << width;
  }
  const BatchShape fixed{.tokens = 2048, .longest = 500, .static_rows = 4};
  EXPECT_EQ(fixed.width(33), 33U);
}

TEST(BatchShapeTest, WidthsOfPackedTokensGoInFewSteps) {
  const BatchShape shape{.tokens = 2048, .longest = 500, .packs_tokens = true};
  for (const auto& [length, width] :
       {std::pair{1U, 8U}, {9U, 16U}, {64U, 64U}, {65U, 80U}, {470U, 500U}, {512U, 512U}}) {
    EXPECT_EQ(shape.width(length), width) << length;
    EXPECT_EQ(shape.width(width), width) << width;
  }
}

TEST(BatchShapeTest, FewRowsPowersOfTwoAndFullBatchesAreAllowed) {
  const BatchShape shape{.tokens = 400};
  std::vector<std::size_t> allowed;
  for (std::size_t rows = 1; rows <= 50; ++rows) {
    if (shape.allows(rows, 10)) allowed.push_back(rows);
  }
  EXPECT_EQ(shape.rows_max(10), 40U);
  EXPECT_EQ(allowed, (std::vector<std::size_t>{1, 2, 3, 4, 5, 6, 7, 8, 16, 32, 40}));
  // A text that is longer than a batch may be makes one.
  EXPECT_TRUE(shape.allows(1, 500));
  EXPECT_FALSE(shape.allows(2, 500));
}

TEST(BatchShapeTest, AStaticShapeTakesAnyNumberOfItsRows) {
  const BatchShape shape{.tokens = 16, .static_rows = 12};
  EXPECT_TRUE(shape.allows(11, 64));
  EXPECT_TRUE(shape.allows(12, 64));
  EXPECT_FALSE(shape.allows(13, 64));
}

}  // namespace
}  // namespace latebind::embedding
