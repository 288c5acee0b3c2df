// FairQueue: the texts that wait to be computed, and whose turn is next.
//
// Start-time fair queuing: each owner has a turn with a begin and an end in virtual time. A turn begins at the end of
// the owner's last turn, or at the clock's time if that is later and the owner did not wait, and lasts as long as its
// tokens. The owner whose turn begins first is next. The clock advances by the tokens that begin, divided by the number
// of waiting submissions. Thus an owner that stays away saves up no time, and an owner with many texts falls back by
// what it received.
//
// Source: Goyal, Vin, Cheng, "Start-time Fair Queuing" (1996), with turns for packets. The clock counts only the owners
// that wait, because owners of one text come and go.
//
// Pure: no lock, no thread, no clock of the system. The caller serializes the calls.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "embedding/schedule/batching.h"

namespace latebind::embedding {

struct QueuedTexts;

// Texts of one submission that begin together.
struct BatchPiece {
  std::shared_ptr<QueuedTexts> texts;
  std::vector<std::uint32_t> rows{};  // positions among the submission's texts, longest first
};

class FairQueue {
  // The service that an owner present all the time would have received, in parts of a token.
  using FairTime = std::uint64_t;

 public:
  using Entry = std::shared_ptr<QueuedTexts>;

  // A party among which the device is shared by tokens. It must exist while texts of its submissions wait.
  class Owner {
    friend class FairQueue;
    std::uint64_t waiting_tokens_ = 0;
    FairTime turn_begins_ = 0;  // begin and end of its last turn
    FairTime turn_ends_ = 0;
    std::uint64_t turn_tokens_ = 0;  // expected tokens of this turn, and those that have begun
    std::uint64_t turn_taken_ = 0;
    bool is_short_ = false;  // all of its waiting texts are one turn
  };

  // The smallest turn is next: of turns that begin together, the shorter one.
  struct Turn {
    FairTime begins = 0;
    FairTime ends = 0;
    auto operator<=>(const Turn&) const = default;
  };

  // A turn is one batch of `batch_tokens`, or all texts of an owner that has at most twice as many tokens. At most
  // `entries_max` submissions wait at a time.
  FairQueue(std::size_t batch_tokens, std::size_t entries_max);

  [[nodiscard]] bool empty() const { return entries_.empty(); }
  // The submissions with waiting texts, in the order in which they joined.
  [[nodiscard]] std::span<const Entry> entries() const { return entries_; }
  [[nodiscard]] std::size_t texts() const { return texts_; }
  [[nodiscard]] std::uint64_t tokens() const { return tokens_; }

  // Adds a submission that has texts to compute.
  void join(Entry entry);
  // Returns the submission whose turn is next, among those for which `may` holds; null if there is none.
  template <class May>
  [[nodiscard]] Entry next(const May& may) const {
    const Entry* next = nullptr;
    for (const Entry& entry : entries_) {
      if (may(*entry) && (next == nullptr || turn_of(*entry) < turn_of(**next))) next = &entry;
    }
    return next == nullptr ? nullptr : *next;
  }
  [[nodiscard]] static Turn turn_of(const QueuedTexts& texts) noexcept;

  // Removes texts because they begin, charges their owners and advances the clock. Of a submission that is computed
  // alone, a piece is its next batch. Returns the sum of their tokens.
  std::uint64_t begin(std::span<const BatchPiece> pieces) noexcept;
  // Removes all texts of a submission, which are dropped.
  void leave(QueuedTexts& texts) noexcept;

 private:
  void begin_turn(Owner& owner) const noexcept;
  std::uint64_t take(const BatchPiece& piece) noexcept;

  const std::size_t batch_tokens_;
  std::vector<Entry> entries_;
  std::size_t texts_ = 0;
  std::uint64_t tokens_ = 0;
  FairTime now_ = 0;
};

// The texts of one submission, as far as the queue and the former of batches know them.
struct QueuedTexts {
  // Constant once they wait.
  FairQueue::Owner* owner = nullptr;
  std::span<const std::uint32_t> lengths{};   // the tokens of each text
  BatchPlan plan{};                           // the batches are used only if `alone`
  BatchShape shape{};                         // the limits of the device's batches
  std::vector<std::size_t> static_lengths{};  // set if `shape` has static rows
  bool alone = false;                         // the batches contain only these texts
  bool more_follows = false;                  // the last batches need not get smaller
  // Changed by the queue.
  std::size_t next_batch = 0;              // if alone: the first batch of the plan that has not begun
  std::vector<std::uint32_t> remaining{};  // otherwise: the texts that have not begun, longest first

  [[nodiscard]] bool has_next() const { return alone ? next_batch < plan.batches.size() : !remaining.empty(); }
  [[nodiscard]] std::uint32_t length_of(std::uint32_t row) const { return lengths[row]; }
  // The texts that have not begun.
  [[nodiscard]] std::span<const std::uint32_t> rows_left() const;
  // The texts of the next batch of the plan.
  [[nodiscard]] std::span<const std::uint32_t> rows_of_next_batch() const;
};

[[nodiscard]] std::uint64_t tokens_of(const BatchPiece& piece) noexcept;

}  // namespace latebind::embedding
