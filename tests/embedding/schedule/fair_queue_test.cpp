// The fair queue against a simple model of it, and what its order means for those who wait.
#include "embedding/schedule/fair_queue.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "tests/embedding/schedule/queued_texts.h"

namespace latebind::embedding {
namespace {

using test::piece_of;
using test::submitted;

constexpr std::size_t kBatch = 100;

bool is_anyone(const QueuedTexts& /*texts*/) {
  return true;
}

std::uint64_t begin_next(FairQueue& queue, std::size_t texts_max) {
  const auto next = queue.next(is_anyone);
  const BatchPiece piece = piece_of(next, texts_max);
  return queue.begin({&piece, 1});
}

TEST(FairQueueTest, AnEmptyQueueHasNoNext) {
  const FairQueue queue(kBatch, 8);
  EXPECT_TRUE(queue.empty());
  EXPECT_EQ(queue.next(is_anyone), nullptr);
}

TEST(FairQueueTest, OwnersOfFewTextsFollowTheirArrivalAndAShorterTurnGoesFirstAmongEquals) {
  FairQueue queue(kBatch, 8);
  std::deque<FairQueue::Owner> owners(3);
  const auto longer = submitted(owners[0], {90}, {.tokens = kBatch});
  const auto shorter = submitted(owners[1], {10}, {.tokens = kBatch});
  queue.join(longer);
  queue.join(shorter);
  EXPECT_EQ(queue.next(is_anyone), shorter) << "both turns begin now";
  EXPECT_EQ(begin_next(queue, 1), 10U);
  // The clock has advanced, so a third owner comes after the one that waits already.
  const auto third = submitted(owners[2], {1}, {.tokens = kBatch});
  queue.join(third);
  EXPECT_EQ(queue.next(is_anyone), longer);
}

TEST(FairQueueTest, NextIsChosenAmongThoseWhoMay) {
  FairQueue queue(kBatch, 8);
  std::deque<FairQueue::Owner> owners(2);
  const auto one = submitted(owners[0], {10}, {.tokens = kBatch});
  const auto other = submitted(owners[1], {90}, {.tokens = kBatch});
  queue.join(one);
  queue.join(other);
  EXPECT_EQ(queue.next([&](const QueuedTexts& texts) { return &texts != one.get(); }), other);
  EXPECT_EQ(queue.next([](const QueuedTexts&) { return false; }), nullptr);
}

TEST(FairQueueTest, AnOwnerThatStaysAwaySavesUpNoTime) {
  FairQueue queue(kBatch, 64);
  std::deque<FairQueue::Owner> owners(2);
  const std::vector<std::uint32_t> many(1000, 10);
  const auto busy = submitted(owners[0], many, {.tokens = kBatch});
  queue.join(busy);
  for (int i = 0; i < 50; ++i)
    (void)begin_next(queue, 10);
  // The second owner has received nothing so far. It gets its half from now on, and no more.
  const auto late = submitted(owners[1], many, {.tokens = kBatch});
  queue.join(late);
  std::map<const QueuedTexts*, std::uint64_t> received;
  for (int i = 0; i < 40; ++i) {
    const auto next = queue.next(is_anyone);
    received[next.get()] += begin_next(queue, 10);
  }
  EXPECT_NEAR(static_cast<double>(received[busy.get()]), static_cast<double>(received[late.get()]), 2.0 * kBatch);
}

TEST(FairQueueTest, WhatLeavesIsNeitherCountedNorNext) {
  FairQueue queue(kBatch, 8);
  FairQueue::Owner owner;
  const auto one = submitted(owner, {30, 20}, {.tokens = kBatch});
  const auto alone = submitted(owner, {60, 50, 40}, {.tokens = kBatch}, /*alone=*/true);
  queue.join(one);
  queue.join(alone);
  (void)begin_next(queue, 1);
  queue.leave(*one);
  EXPECT_EQ(queue.texts(), 3U);
  EXPECT_EQ(queue.tokens(), 150U);
  queue.leave(*alone);
  EXPECT_TRUE(queue.empty());
  EXPECT_EQ(queue.texts(), 0U);
  EXPECT_EQ(queue.tokens(), 0U);
  queue.leave(*alone);  // has no effect once it has left
  EXPECT_EQ(queue.tokens(), 0U);
}

// The queue as its header describes it, with lists that are searched and fractions instead of parts of a token.
class SimpleQueue {
 public:
  struct Account {
    std::uint64_t waiting = 0, expected = 0, taken = 0;
    double begins = 0, ends = 0;
    bool is_short = false;
  };
  struct Entry {
    std::size_t id = 0;
    std::size_t owner = 0;
    std::vector<std::uint32_t> left;
  };

  explicit SimpleQueue(std::size_t owners) : accounts_(owners) {}

  void join(Entry entry) {
    Account& account = accounts_[entry.owner];
    const bool waited = account.waiting > 0;
    for (const std::uint32_t length : entry.left)
      account.waiting += length;
    account.is_short = (account.is_short || !waited) && account.waiting <= 2 * kBatch;
    entries_.push_back(std::move(entry));
    if (waited) return;
    account.ends = std::max(account.ends, now_);
    begin_turn(account);
  }
  [[nodiscard]] const Entry& next() const {
    return *std::ranges::min_element(entries_, {}, [&](const Entry& entry) {
      return std::pair(accounts_[entry.owner].begins, accounts_[entry.owner].ends);
    });
  }
  void begin(std::size_t id, std::size_t count) {
    const auto sharing = static_cast<double>(entries_.size());
    const auto entry = find(id);
    Account& account = accounts_[entry->owner];
    std::uint64_t tokens = 0;
    for (std::size_t i = 0; i < count; ++i)
      tokens += entry->left[i];
    entry->left.erase(entry->left.begin(), entry->left.begin() + static_cast<std::ptrdiff_t>(count));
    account.waiting -= tokens;
    account.taken += tokens;
    if (!account.is_short || account.taken >= account.expected) {
      account.ends = account.begins + static_cast<double>(account.taken);
      if (account.waiting > 0) begin_turn(account);
    }
    if (entry->left.empty()) entries_.erase(entry);
    now_ += static_cast<double>(tokens) / sharing;
  }
  void leave(std::size_t id) {
    const auto entry = find(id);
    for (const std::uint32_t length : entry->left)
      accounts_[entry->owner].waiting -= length;
    entries_.erase(entry);
  }
  [[nodiscard]] std::size_t texts() const {
    std::size_t sum = 0;
    for (const Entry& entry : entries_)
      sum += entry.left.size();
    return sum;
  }
  [[nodiscard]] std::uint64_t tokens() const {
    std::uint64_t sum = 0;
    for (const Account& account : accounts_)
      sum += account.waiting;
    return sum;
  }
  [[nodiscard]] const std::vector<Entry>& entries() const { return entries_; }
  // How far two turns are apart. The queue rounds its clock down to a part of a token.
  [[nodiscard]] double distance(std::size_t owner, std::size_t other) const {
    const Account& a = accounts_[owner];
    const Account& b = accounts_[other];
    return a.begins != b.begins ? std::abs(a.begins - b.begins) : std::abs(a.ends - b.ends);
  }

 private:
  void begin_turn(Account& account) const {
    account.expected = account.is_short ? account.waiting : std::min<std::uint64_t>(account.waiting, kBatch);
    account.taken = 0;
    account.begins = account.ends;
    account.ends += static_cast<double>(account.expected);
  }
  std::vector<Entry>::iterator find(std::size_t id) { return std::ranges::find(entries_, id, &Entry::id); }

  std::vector<Account> accounts_;
  std::vector<Entry> entries_;
  double now_ = 0;
};

TEST(FairQueueTest, RandomSequencesGiveTheOrderOfTheSimpleModel) {
  constexpr std::size_t kOwners = 5;
  std::size_t begun = 0;
  for (std::uint32_t seed = 0; seed < 200; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937 random(seed);
    const auto below = [&](std::uint32_t end) { return static_cast<std::uint32_t>(random() % end); };
    FairQueue queue(kBatch, 64);
    SimpleQueue simple(kOwners);
    std::deque<FairQueue::Owner> owners(kOwners);
    std::map<std::size_t, std::shared_ptr<test::Submitted>> waiting;
    std::size_t ids = 0;
    for (int step = 0; step < 300; ++step) {
      const std::uint32_t dice = below(10);
      if (dice < 4 && waiting.size() < 60) {
        std::vector<std::uint32_t> lengths(1 + below(below(8) == 0 ? 60 : 4));
        for (std::uint32_t& length : lengths)
          length = 1 + below(90);
        const std::size_t owner = below(kOwners);
        const auto texts = submitted(owners[owner], lengths, {.tokens = kBatch});
        SimpleQueue::Entry entry{++ids, owner, {}};
        for (const std::uint32_t row : texts->remaining)
          entry.left.push_back(lengths[row]);
        queue.join(texts);
        simple.join(std::move(entry));
        waiting[ids] = texts;
      } else if (dice < 9 && !queue.empty()) {
        const auto next = queue.next(is_anyone);
        const auto it = std::ranges::find_if(waiting, [&](const auto& one) { return one.second == next; });
        ASSERT_NE(it, waiting.end());
        const SimpleQueue::Entry& expected = simple.next();
        const auto owner_of = [&](std::size_t id) {
          return std::ranges::find(simple.entries(), id, &SimpleQueue::Entry::id)->owner;
        };
        ASSERT_TRUE(it->first == expected.id || simple.distance(owner_of(it->first), expected.owner) < 1.0)
            << it->first << " is next, and not " << expected.id;
        const BatchPiece piece = piece_of(next, 1 + below(4));
        simple.begin(it->first, piece.rows.size());
        (void)queue.begin({&piece, 1});
        ++begun;
        if (!next->has_next()) waiting.erase(it);
      } else if (!waiting.empty()) {
        const auto it = std::next(waiting.begin(), below(static_cast<std::uint32_t>(waiting.size())));
        queue.leave(*it->second);
        simple.leave(it->first);
        waiting.erase(it);
      }
      ASSERT_EQ(queue.texts(), simple.texts());
      ASSERT_EQ(queue.tokens(), simple.tokens());
      ASSERT_EQ(queue.entries().size(), simple.entries().size());
      for (std::size_t i = 0; i < simple.entries().size(); ++i)
        ASSERT_EQ(queue.entries()[i], waiting.at(simple.entries()[i].id)) << "the order of arrival";
    }
  }
  EXPECT_GT(begun, 10'000U);
}

// The bound of fair queuing: of two owners that wait all the time, none receives more than a turn of each above the
// other, however their texts differ.
TEST(FairQueueTest, OwnersThatAlwaysWaitReceiveTheSameUpToATurnOfEach) {
  for (std::uint32_t seed = 0; seed < 50; ++seed) {
    std::mt19937 random(seed);
    FairQueue queue(kBatch, 64);
    std::deque<FairQueue::Owner> owners(4);
    std::map<const FairQueue::Owner*, std::int64_t> received;
    std::map<const FairQueue::Owner*, std::shared_ptr<test::Submitted>> texts;
    for (FairQueue::Owner& owner : owners) {
      std::vector<std::uint32_t> lengths(2000);
      const auto longest = static_cast<std::uint32_t>(1 + random() % 90);
      for (std::uint32_t& length : lengths)
        length = static_cast<std::uint32_t>(1 + random() % longest);
      texts[&owner] = submitted(owner, lengths, {.tokens = kBatch});
      queue.join(texts[&owner]);
    }
    while (std::ranges::all_of(texts, [](const auto& one) { return one.second->has_next(); })) {
      const auto next = queue.next(is_anyone);
      received[next->owner] += static_cast<std::int64_t>(begin_next(queue, 1 + random() % 3));
      std::int64_t least = INT64_MAX;
      std::int64_t most = 0;
      for (const FairQueue::Owner& owner : owners) {
        least = std::min(least, received[&owner]);
        most = std::max(most, received[&owner]);
      }
      // A piece has up to three texts of 90 tokens.
      ASSERT_LE(most - least, 2 * 3 * 90) << "seed " << seed;
    }
  }
}

}  // namespace
}  // namespace latebind::embedding
