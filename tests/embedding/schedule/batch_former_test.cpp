// Batches of random queues: what they hold, and that every text is computed once.
#include "embedding/schedule/batch_former.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "tests/embedding/schedule/queued_texts.h"

namespace latebind::embedding {
namespace {

using test::submitted;
using ::testing::ElementsAre;

bool anyone(const QueuedTexts& /*texts*/) {
  return true;
}

std::uint32_t longest_of(const FormedBatch& batch) {
  std::uint32_t longest = 0;
  for (const BatchPiece& piece : batch.pieces) {
    for (const std::uint32_t row : piece.rows)
      longest = std::max(longest, piece.texts->length_of(row));
  }
  return longest;
}

TEST(BatchFormerTest, ATextThatSharesWithNobodyHasItsOwnWidth) {
  FairQueue queue(2048, 8);
  BatchFormer former(1);
  FairQueue::Owner owner;
  const auto lone = submitted(owner, {37}, {.tokens = 2048, .longest = 512});
  queue.join(lone);
  const FormedBatch batch = former.form(queue, lone, 0);
  EXPECT_EQ(batch.width, 37U);
  EXPECT_EQ(batch.rows, 1U);
  EXPECT_EQ(batch.tokens, 37U);
  EXPECT_EQ(batch.side_by_side, 1U);
  EXPECT_TRUE(queue.empty());
}

TEST(BatchFormerTest, TheChosenTextsAreInTheBatchAndFirst) {
  FairQueue queue(2048, 8);
  BatchFormer former(1);
  std::deque<FairQueue::Owner> owners(2);
  const auto one = submitted(owners[0], {12, 12}, {.tokens = 2048, .longest = 512});
  const auto other = submitted(owners[1], {12, 12}, {.tokens = 2048, .longest = 512});
  queue.join(one);
  queue.join(other);
  const FormedBatch batch = former.form(queue, other, 0);
  ASSERT_EQ(batch.pieces.size(), 2U);
  EXPECT_EQ(batch.pieces[0].texts, other);
  EXPECT_THAT(batch.pieces[0].rows, ElementsAre(0, 1));
  EXPECT_EQ(batch.pieces[1].texts, one);
}

TEST(BatchFormerTest, BatchesThatMayRunAreCountedUpToTheWorkers) {
  FairQueue queue(256, 8);
  BatchFormer former(3);
  FairQueue::Owner owner;
  const auto many =
      submitted(owner, std::vector<std::uint32_t>(100, 64), {.tokens = 256, .longest = 512, .without_padding = true});
  queue.join(many);
  EXPECT_EQ(former.form(queue, many, 0).side_by_side, 3U);
  queue.leave(*many);
  const auto few = submitted(owner, {64}, {.tokens = 256, .longest = 512, .without_padding = true});
  queue.join(few);
  EXPECT_EQ(former.form(queue, few, 1).side_by_side, 2U) << "this one and the one that runs";
}

struct Kind {
  std::string name;
  BatchShape shape;
  std::vector<std::size_t> static_lengths{};
};

class RandomBatchesTest : public ::testing::TestWithParam<Kind> {
 protected:
  // Whether the shape allows the batch.
  static void check(const FormedBatch& batch, const QueuedTexts& seed) {
    const BatchShape& shape = seed.shape;
    ASSERT_GE(batch.width, longest_of(batch));
    if (seed.alone) {
      ASSERT_EQ(batch.pieces.size(), 1U);
      return;
    }
    if (shape.static_rows > 0) {
      ASSERT_LE(batch.rows, shape.static_rows);
      for (const BatchPiece& piece : batch.pieces) {
        for (const std::uint32_t row : piece.rows)
          ASSERT_EQ(static_width(piece.texts->length_of(row), seed.static_lengths), batch.width);
      }
      return;
    }
    if (batch.rows == 1) return;
    if (shape.without_padding) {
      ASSERT_LE(batch.tokens, shape.full_tokens());
      ASSERT_LE(batch.rows * batch.width, shape.padded_max());
    } else if (shape.packs_tokens) {
      ASSERT_LE(batch.rows, shape.packed_rows_max(batch.width));
    } else {
      ASSERT_LE(batch.rows, shape.rows_max(batch.width));
      ASSERT_TRUE(shape.allows(batch.rows, batch.width)) << batch.rows << " rows of " << batch.width;
    }
  }
};

TEST_P(RandomBatchesTest, EveryTextIsComputedOnceInABatchThatIsAllowed) {
  std::size_t shared = 0;
  for (std::uint32_t seed = 0; seed < 60; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937 random(seed);
    const auto below = [&](std::uint32_t end) { return static_cast<std::uint32_t>(random() % end); };
    const std::size_t workers = 1 + below(3);
    FairQueue queue(GetParam().shape.tokens, 64);
    BatchFormer former(workers);
    std::deque<FairQueue::Owner> owners(6);
    std::set<std::pair<const QueuedTexts*, std::uint32_t>> waiting;
    std::vector<std::shared_ptr<QueuedTexts>> all;
    int to_join = 40;
    while (to_join > 0 || !queue.empty()) {
      if (to_join > 0 && (queue.empty() || below(3) == 0)) {
        --to_join;
        std::vector<std::uint32_t> lengths(1 + below(below(4) == 0 ? 200 : 5));
        for (std::uint32_t& length : lengths)
          length = 1 + below(below(5) == 0 ? 500 : 40);
        auto texts = submitted(owners[below(6)], lengths, GetParam().shape, below(5) == 0);
        texts->static_lengths = GetParam().static_lengths;
        texts->more_follows = below(4) == 0;
        for (std::uint32_t row = 0; row < lengths.size(); ++row)
          waiting.emplace(texts.get(), row);
        all.push_back(texts);
        queue.join(texts);
        continue;
      }
      const auto next = queue.next(anyone);
      const std::uint32_t first = next->rows_left().front();
      const FormedBatch batch = former.form(queue, next, below(3));
      ASSERT_EQ(batch.pieces.front().texts, next);
      ASSERT_EQ(batch.pieces.front().rows.front(), first) << "the longest text that waits";
      std::uint64_t tokens = 0;
      std::size_t rows = 0;
      for (const BatchPiece& piece : batch.pieces) {
        ASSERT_TRUE(&piece == &batch.pieces.front() || !piece.texts->alone);
        tokens += tokens_of(piece);
        rows += piece.rows.size();
        for (const std::uint32_t row : piece.rows)
          ASSERT_EQ(waiting.erase({piece.texts.get(), row}), 1U) << "computed twice";
      }
      ASSERT_EQ(batch.tokens, tokens);
      ASSERT_EQ(batch.rows, rows);
      ASSERT_GE(batch.side_by_side, 1U);
      ASSERT_LE(batch.side_by_side, workers);
      check(batch, *next);
      shared += batch.pieces.size() > 1 ? 1 : 0;
      ASSERT_EQ(queue.texts(), waiting.size());
    }
    EXPECT_TRUE(waiting.empty());
    EXPECT_EQ(queue.tokens(), 0U);
  }
  EXPECT_GT(shared, 50U) << "batches of several owners were tested";
}

INSTANTIATE_TEST_SUITE_P(
    Shapes, RandomBatchesTest,
    ::testing::Values(Kind{"Padded", {.tokens = 512, .longest = 512}},
                      Kind{"WithoutPadding", {.tokens = 512, .longest = 512, .without_padding = true}},
                      Kind{"Packed", {.tokens = 512, .longest = 512, .packs_tokens = true}},
                      Kind{"KeptShapes", {.tokens = 512, .longest = 512, .kept_shapes = 16}},
                      Kind{"Static", {.tokens = 512, .longest = 512, .static_rows = 4}, {16, 64, 512}}),
    [](const auto& kind) { return kind.param.name; });

}  // namespace
}  // namespace latebind::embedding
