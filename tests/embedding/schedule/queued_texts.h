// Texts for the pure parts of the scheduler, without tokens, results or threads.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "embedding/schedule/fair_queue.h"

namespace latebind::test {

using embedding::BatchPiece;
using embedding::BatchShape;
using embedding::FairQueue;
using embedding::QueuedTexts;

struct Submitted : QueuedTexts {
  std::vector<std::uint32_t> own_lengths;
};

// A submission of texts of these lengths, none of them zero.
inline std::shared_ptr<Submitted> submitted(embedding::FairQueue::Owner& owner, std::vector<std::uint32_t> lengths,
                                            const embedding::BatchShape& shape, bool alone = false) {
  auto texts = std::make_shared<Submitted>();
  texts->owner = &owner;
  texts->own_lengths = std::move(lengths);
  texts->lengths = texts->own_lengths;
  texts->shape = shape;
  texts->alone = alone;
  texts->plan = embedding::plan_batches(texts->lengths, {.tokens = shape.tokens,
                                                         .longest = shape.longest,
                                                         .without_padding = shape.without_padding,
                                                         .packs_tokens = shape.packs_tokens});
  if (!alone) texts->remaining = texts->plan.order;
  return texts;
}

// The first `count` waiting texts as a piece; all of the next batch if the texts are computed alone.
inline embedding::BatchPiece piece_of(const embedding::FairQueue::Entry& texts, std::size_t count) {
  const auto rows =
      texts->alone ? texts->rows_of_next_batch()
                   : std::span<const std::uint32_t>(texts->remaining).first(std::min(count, texts->remaining.size()));
  return {texts, {rows.begin(), rows.end()}};
}

}  // namespace latebind::test
