#include "embedding/schedule/fair_queue.h"

#include <algorithm>
#include <utility>

namespace latebind::embedding {
namespace {

// An owner with at most this many budgets of a batch has them computed in one turn.
constexpr std::uint64_t kBudgetsOfTurn = 2;
// A token of service is shared by all waiting submissions, so virtual time counts parts of a token. 2^64 parts are
// 12,000 years of 10^9 tokens a day.
constexpr std::uint64_t kPartsOfToken = 4096;

}  // namespace

std::span<const std::uint32_t> QueuedTexts::rows_left() const {
  if (!alone) return remaining;
  if (!has_next()) return {};
  const std::size_t first = plan.batches[next_batch].first;
  const std::size_t end = plan.batches.back().first + plan.batches.back().count;
  return std::span(plan.order).subspan(first, end - first);
}

std::span<const std::uint32_t> QueuedTexts::rows_of_next_batch() const {
  const Batch& batch = plan.batches[next_batch];
  return std::span(plan.order).subspan(batch.first, batch.count);
}

std::uint64_t tokens_of(const BatchPiece& piece) noexcept {
  std::uint64_t tokens = 0;
  for (const std::uint32_t row : piece.rows)
    tokens += piece.texts->length_of(row);
  return tokens;
}

FairQueue::FairQueue(std::size_t batch_tokens, std::size_t entries_max) : batch_tokens_(batch_tokens) {
  entries_.reserve(entries_max);
}

FairQueue::Turn FairQueue::turn_of(const QueuedTexts& texts) noexcept {
  return {texts.owner->turn_begins_, texts.owner->turn_ends_};
}

// Begins a turn if the owner did not wait already.
void FairQueue::join(Entry entry) {
  const QueuedTexts& texts = *entry;
  Owner& owner = *texts.owner;
  entries_.push_back(std::move(entry));
  texts_ += texts.rows_left().size();
  tokens_ += texts.plan.tokens;
  const bool waits_already = owner.waiting_tokens_ > 0;
  owner.waiting_tokens_ += texts.plan.tokens;
  owner.is_short_ = (owner.is_short_ || !waits_already) && owner.waiting_tokens_ <= kBudgetsOfTurn * batch_tokens_;
  if (waits_already) return;
  owner.turn_ends_ = std::max(owner.turn_ends_, now_);
  begin_turn(owner);
}

// Begins the owner's next turn, at the end of the last one.
void FairQueue::begin_turn(Owner& owner) const noexcept {
  owner.turn_tokens_ =
      owner.is_short_ ? owner.waiting_tokens_ : std::min<std::uint64_t>(owner.waiting_tokens_, batch_tokens_);
  owner.turn_taken_ = 0;
  owner.turn_begins_ = owner.turn_ends_;
  owner.turn_ends_ += owner.turn_tokens_ * kPartsOfToken;
}

std::uint64_t FairQueue::begin(std::span<const BatchPiece> pieces) noexcept {
  const std::size_t sharing = entries_.size();
  std::uint64_t tokens = 0;
  for (const BatchPiece& piece : pieces)
    tokens += take(piece);
  now_ += tokens * kPartsOfToken / sharing;
  return tokens;
}

std::uint64_t FairQueue::take(const BatchPiece& piece) noexcept {
  QueuedTexts& texts = *piece.texts;
  texts_ -= piece.rows.size();
  const std::uint64_t tokens = tokens_of(piece);
  tokens_ -= tokens;
  Owner& owner = *texts.owner;
  owner.waiting_tokens_ -= tokens;
  owner.turn_taken_ += tokens;
  if (!owner.is_short_ || owner.turn_taken_ >= owner.turn_tokens_) {
    // The turn cost what was taken, which may differ from what was expected.
    owner.turn_ends_ = owner.turn_begins_ + owner.turn_taken_ * kPartsOfToken;
    if (owner.waiting_tokens_ > 0) begin_turn(owner);
  }
  if (texts.alone) {
    ++texts.next_batch;
  } else {
    // Both lists have the same order.
    auto taken = piece.rows.begin();
    std::erase_if(texts.remaining, [&](std::uint32_t row) {
      if (taken == piece.rows.end() || *taken != row) return false;
      ++taken;
      return true;
    });
  }
  if (!texts.has_next()) std::erase(entries_, piece.texts);
  return tokens;
}

void FairQueue::leave(QueuedTexts& texts) noexcept {
  const auto left = texts.rows_left();
  texts_ -= left.size();
  for (const std::uint32_t row : left) {
    tokens_ -= texts.length_of(row);
    texts.owner->waiting_tokens_ -= texts.length_of(row);
  }
  texts.next_batch = texts.plan.batches.size();
  texts.remaining.clear();
  std::erase_if(entries_, [&](const Entry& entry) { return entry.get() == &texts; });
}

}  // namespace latebind::embedding
