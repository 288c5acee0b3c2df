#include "core/threads/bounded_worker.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <memory>
#include <numeric>
#include <thread>
#include <utility>
#include <vector>

#include "tests/support/latch.h"

namespace latebind::core {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using Numbers = BoundedWorker<int>;

template <class Item>
auto add(BoundedWorker<Item>& worker, Item item) {
  return worker.add(item);
}

TEST(BoundedWorkerTest, HandlesAllItemsInTheOrderInWhichTheyWereAdded) {
  std::vector<int> seen;
  {
    Numbers worker({.waiting_max = 1000}, [&](std::vector<int>& batch) {
      EXPECT_EQ(batch.size(), 1U);
      seen.push_back(batch.front());
    });
    for (int i = 0; i < 1000; ++i)
      EXPECT_EQ(add(worker, i), Numbers::Added::kYes);
  }
  std::vector<int> wanted(1000);
  std::iota(wanted.begin(), wanted.end(), 0);
  EXPECT_EQ(seen, wanted);
}

TEST(BoundedWorkerTest, LosesNothingThatManyThreadsAdd) {
  std::atomic<std::size_t> handled{0};
  std::atomic<std::size_t> added{0};
  std::size_t largest = 0;
  {
    Numbers worker({.waiting_max = 8, .batch_max = 4}, [&](std::vector<int>& batch) {
      largest = std::max(largest, batch.size());
      handled += batch.size();
    });
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t) {
      threads.emplace_back([&] {
        for (int i = 0; i < 2000; ++i)
          added += add(worker, i) == Numbers::Added::kYes ? 1 : 0;
      });
    }
    for (std::thread& thread : threads)
      thread.join();
    worker.settle();
    EXPECT_EQ(handled.load(), added.load());
  }
  EXPECT_GT(added.load(), 0U);
  EXPECT_LE(largest, 4U);
}

TEST(BoundedWorkerTest, ItemsBeyondTheLimitAreRefusedAndNotMovedFrom) {
  test::Latch begun(1);
  test::Latch may_return(1);
  using Pointers = BoundedWorker<std::unique_ptr<int>>;
  Pointers worker({.waiting_max = 2}, [&](std::vector<std::unique_ptr<int>>& batch) {
    if (*batch.front() != 0) return;
    begun.count_down();
    may_return.wait();
  });
  EXPECT_EQ(add(worker, std::make_unique<int>(0)), Pointers::Added::kYes);
  begun.wait();
  EXPECT_EQ(add(worker, std::make_unique<int>(1)), Pointers::Added::kYes);
  EXPECT_FALSE(worker.is_full());
  EXPECT_EQ(add(worker, std::make_unique<int>(2)), Pointers::Added::kYes);
  EXPECT_TRUE(worker.is_full());
  auto refused = std::make_unique<int>(3);
  EXPECT_EQ(worker.add(refused), Pointers::Added::kFull);
  EXPECT_NE(refused, nullptr);
  may_return.count_down();
  worker.settle();
  EXPECT_FALSE(worker.is_full());
}

TEST(BoundedWorkerTest, ABatchIsHandledAsSoonAsItIsFull) {
  test::Latch full(1);
  Numbers worker({.waiting_max = 10, .batch_max = 3, .gather = hours(1)}, [&](std::vector<int>& batch) {
    EXPECT_EQ(batch, (std::vector<int>{1, 2, 3}));
    full.count_down();
  });
  for (int i = 1; i <= 3; ++i)
    EXPECT_EQ(add(worker, i), Numbers::Added::kYes);
  full.wait();
}

TEST(BoundedWorkerTest, NeitherSettlingNorEndingWaitsForABatchToBecomeFull) {
  std::vector<std::size_t> sizes;
  Numbers worker({.waiting_max = 10, .batch_max = 3, .gather = hours(1), .head_start = hours(1)},
                 [&](std::vector<int>& batch) { sizes.push_back(batch.size()); });
  EXPECT_EQ(add(worker, 1), Numbers::Added::kYes);
  worker.settle();
  EXPECT_EQ(sizes, (std::vector<std::size_t>{1}));
  EXPECT_EQ(add(worker, 2), Numbers::Added::kYes);
  EXPECT_EQ(add(worker, 3), Numbers::Added::kYes);
  EXPECT_TRUE(worker.end(std::nullopt));
  EXPECT_EQ(sizes, (std::vector<std::size_t>{1, 2}));
}

TEST(BoundedWorkerTest, AThreadThatDoesNotStayStartsAgain) {
  std::vector<std::thread::id> threads;
  Numbers worker({.waiting_max = 10, .stays = false},
                 [&](std::vector<int>&) { threads.push_back(std::this_thread::get_id()); });
  for (std::size_t i = 1; i <= 20; ++i) {
    EXPECT_EQ(add(worker, 1), Numbers::Added::kYes);
    worker.settle();
    EXPECT_EQ(threads.size(), i);
  }
}

TEST(BoundedWorkerTest, RefusesItemsOnceItHasEnded) {
  Numbers worker({.waiting_max = 10}, [](std::vector<int>&) { ADD_FAILURE(); });
  EXPECT_TRUE(worker.end(std::nullopt));
  EXPECT_EQ(add(worker, 1), Numbers::Added::kNoThread);
  EXPECT_TRUE(worker.end(milliseconds(0)));
}

// What the handler uses is shared with it, because it outlives the worker.
TEST(BoundedWorkerTest, AHandlerThatDoesNotReturnIsLeftBehindAndTheRestIsDropped) {
  struct Shared {
    test::Latch begun{1};
    test::Latch may_return{1};
    test::Latch returned{1};
    std::atomic<int> handled{0};
  };
  const auto shared = std::make_shared<Shared>();
  const auto item = std::make_shared<int>(0);
  {
    BoundedWorker<std::shared_ptr<int>> worker({.waiting_max = 10}, [shared](std::vector<std::shared_ptr<int>>&) {
      shared->begun.count_down();
      shared->may_return.wait();
      ++shared->handled;
      shared->returned.count_down();
    });
    for (int i = 0; i < 3; ++i)
      (void)add(worker, item);
    shared->begun.wait();
    EXPECT_EQ(item.use_count(), 4);
    EXPECT_FALSE(worker.end(milliseconds(1)));
    EXPECT_EQ(item.use_count(), 2);  // the one that is being handled, and this
  }
  shared->may_return.count_down();
  shared->returned.wait();
  EXPECT_EQ(shared->handled.load(), 1);
}

TEST(BoundedWorkerTest, ItsOwnThreadMayDestroyIt) {
  test::Latch added(1);
  test::Latch over(1);
  struct Item;
  using Worker = BoundedWorker<std::unique_ptr<Item>>;
  struct Item {
    explicit Item(test::Latch& when_gone) : gone(when_gone) {}
    Item(const Item&) = delete;
    Item& operator=(const Item&) = delete;
    ~Item() {
      owned.reset();  // the last reference to the worker whose thread this is
      gone.count_down();
    }
    test::Latch& gone;
    std::shared_ptr<Worker> owned;
  };
  auto worker = std::make_shared<Worker>(Worker::Options{.waiting_max = 1},
                                         [&](std::vector<std::unique_ptr<Item>>&) { added.wait(); });
  auto item = std::make_unique<Item>(over);
  item->owned = std::move(worker);
  Worker& alone = *item->owned;
  EXPECT_EQ(add(alone, std::move(item)), Worker::Added::kYes);
  added.count_down();
  over.wait();
}

}  // namespace
}  // namespace latebind::core
