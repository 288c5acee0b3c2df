#include "core/vendor/request_pool.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <new>
#include <optional>
#include <random>
#include <set>
#include <thread>
#include <vector>

#include "tests/support/latch.h"

namespace latebind::core {
namespace {

using std::chrono::milliseconds;
using Clock = std::chrono::steady_clock;

// A request that knows which one it is.
struct Numbered {
  int number = 0;
};

RequestPool<Numbered>::Factory counting(std::atomic<int>& made) {
  return [&made]() -> Result<Numbered> { return Numbered{++made}; };
}

TEST(RequestPoolTest, MakesEachRequestOnceAndKeepsIt) {
  std::atomic<int> made{0};
  RequestPool<Numbered> pool(3, counting(made));
  EXPECT_EQ(made, 0);
  ASSERT_TRUE(pool.warm().ok());
  EXPECT_EQ(made, 3);
  for (int i = 0; i < 10; ++i)
    ASSERT_TRUE(pool.checkout({}).ok());
  EXPECT_EQ(made, 3);
  EXPECT_EQ(pool.idle(), 3U);
}

TEST(RequestPoolTest, GivesTheRequestBackWhenTheLeaseIsDropped) {
  std::atomic<int> made{0};
  RequestPool<Numbered> pool(1, counting(made));
  { const auto lease = pool.checkout({}); }
  EXPECT_EQ(pool.idle(), 1U);
}

TEST(RequestPoolTest, GivesNothingOutOnceARunHasSpoiledIt) {
  std::atomic<int> made{0};
  RequestPool<Numbered> pool(1, counting(made));
  std::optional<RequestPool<Numbered>::Lease> spoiler;
  {
    auto lease = pool.checkout({});
    ASSERT_TRUE(lease.ok());
    spoiler.emplace(*std::move(lease));
  }
  StatusCode waited = StatusCode::kOk;
  std::thread other([&] { waited = pool.checkout({}).status().code(); });
  while (pool.waiting() == 0)
    std::this_thread::yield();
  EXPECT_EQ(pool.spoiled_by(), 0U);
  spoiler->spoil();
  EXPECT_EQ(pool.spoiled_by(), 1U);
  spoiler.reset();
  other.join();
  EXPECT_EQ(waited, StatusCode::kBusy);
  EXPECT_EQ(pool.checkout({}).status().code(), StatusCode::kBusy);
  EXPECT_EQ(pool.idle(), 1U);
}

TEST(RequestPoolTest, IsBusyAfterTheDeadlineAndUsableAgainLater) {
  std::atomic<int> made{0};
  RequestPool<Numbered> pool(1, counting(made));
  {
    const auto held = pool.checkout({});
    ASSERT_TRUE(held.ok());
    const auto refused = pool.checkout({.deadline = Clock::now() + milliseconds(1)});
    ASSERT_FALSE(refused.ok());
    EXPECT_EQ(refused.status().code(), StatusCode::kBusy);
  }
  EXPECT_TRUE(pool.checkout({.deadline = Clock::now()}).ok());
}

TEST(RequestPoolTest, ABrokenRequestIsReplaced) {
  std::atomic<int> made{0};
  RequestPool<Numbered> pool(1, counting(made));
  {
    auto lease = pool.checkout({});
    lease->mark_broken();
  }
  EXPECT_EQ(pool.idle(), 1U);
  auto lease = pool.checkout({});
  EXPECT_EQ((**lease).number, 2);
}

TEST(RequestPoolTest, AFailingFactoryDoesNotDrainThePool) {
  bool broken = true;
  RequestPool<Numbered> pool(2, [&]() -> Result<Numbered> {
    if (broken) return Status(StatusCode::kDeviceFailed, "no request today");
    return Numbered{1};
  });
  for (int i = 0; i < 5; ++i) {
    EXPECT_EQ(pool.checkout({}).status().code(), StatusCode::kDeviceFailed);
  }
  EXPECT_FALSE(pool.warm().ok());
  broken = false;
  EXPECT_TRUE(pool.warm().ok());
  EXPECT_EQ(pool.idle(), 2U);
}

TEST(RequestPoolTest, WaitersAreServedInOrderOfArrival) {
  std::atomic<int> made{0};
  RequestPool<Numbered> pool(1, counting(made));
  auto held = std::make_unique<Result<RequestPool<Numbered>::Lease>>(pool.checkout({}));
  std::vector<int> order;
  std::mutex order_mutex;
  std::vector<std::thread> threads;
  for (int i = 0; i < 6; ++i) {
    threads.emplace_back([&, i] {
      const auto lease = pool.checkout({});
      const std::lock_guard lock(order_mutex);
      order.push_back(i);
    });
    // The next thread starts only when this one stands in the queue.
    while (pool.waiting() != static_cast<std::size_t>(i) + 1)
      std::this_thread::yield();
  }
  held.reset();
  for (auto& thread : threads)
    thread.join();
  EXPECT_EQ(order, (std::vector<int>{0, 1, 2, 3, 4, 5}));
}

TEST(RequestPoolTest, WhoGivesUpWaitingDoesNotChangeTheOrderOfTheOthers) {
  std::atomic<int> made{0};
  RequestPool<Numbered> pool(1, counting(made));
  auto held = std::make_unique<Result<RequestPool<Numbered>::Lease>>(pool.checkout({}));
  std::vector<int> order;
  std::mutex order_mutex;
  std::vector<std::thread> patient;
  std::vector<std::thread> impatient;
  std::atomic<std::size_t> left{0};
  // 0, 2 and 4 wait as long as it takes; 1, 3 and 5 stand between them and leave.
  for (int i = 0; i < 6; ++i) {
    auto& threads = i % 2 == 0 ? patient : impatient;
    threads.emplace_back([&, i] {
      const auto lease =
          pool.checkout(i % 2 == 0 ? RunOptions{} : RunOptions{.deadline = Clock::now() + milliseconds(300)});
      const std::lock_guard lock(order_mutex);
      if (lease.ok()) order.push_back(i);
      ++left;
    });
    while (pool.waiting() + left != static_cast<std::size_t>(i) + 1)
      std::this_thread::yield();
  }
  for (auto& thread : impatient)
    thread.join();
  EXPECT_EQ(pool.waiting(), 3U);
  held.reset();
  for (auto& thread : patient)
    thread.join();
  EXPECT_EQ(order, (std::vector<int>{0, 2, 4}));
  EXPECT_EQ(pool.idle(), 1U);
}

TEST(RequestPoolTest, AFailingFactoryLetsTheNextInLineTry) {
  test::Latch waiter_stands(1);
  std::atomic<int> calls{0};
  RequestPool<Numbered> pool(1, [&]() -> Result<Numbered> {
    if (++calls > 1) return Numbered{calls};
    waiter_stands.wait();
    return Status(StatusCode::kDeviceFailed, "no request today");
  });
  std::thread first([&] { EXPECT_EQ(pool.checkout({}).status().code(), StatusCode::kDeviceFailed); });
  while (calls == 0)
    std::this_thread::yield();
  std::thread second([&] { EXPECT_TRUE(pool.checkout({}).ok()); });
  while (pool.waiting() == 0)
    std::this_thread::yield();
  waiter_stands.count_down();
  first.join();
  second.join();
  EXPECT_EQ(pool.idle(), 1U);
}

TEST(RequestPoolTest, WaitingInOnePoolNeverBlocksAnother) {
  std::atomic<int> made{0};
  RequestPool<Numbered> full(1, counting(made));
  RequestPool<Numbered> other(1, counting(made));
  auto held = std::make_unique<Result<RequestPool<Numbered>::Lease>>(full.checkout({}));
  std::thread waiter([&] { EXPECT_TRUE(full.checkout({}).ok()); });
  while (full.waiting() == 0)
    std::this_thread::yield();
  EXPECT_TRUE(other.checkout({.deadline = Clock::now()}).ok());
  held.reset();
  waiter.join();
}

TEST(RequestPoolTest, AFactoryThatThrowsDoesNotDrainThePool) {
  bool broken = true;
  RequestPool<Numbered> pool(1, [&]() -> Result<Numbered> {
    if (broken) throw std::bad_alloc();
    return Numbered{1};
  });
  for (int i = 0; i < 3; ++i)
    EXPECT_THROW((void)pool.checkout({}).ok(), std::bad_alloc);
  broken = false;
  EXPECT_TRUE(pool.checkout({}).ok());
  EXPECT_EQ(pool.idle(), 1U);
}

TEST(RequestPoolTest, ALeaseOutlivesThePoolAndWhatItIsMadeOfOutlivesTheLease) {
  auto stands_on = std::make_shared<int>(1);
  const std::weak_ptr<int> watched = stands_on;
  auto pool = std::make_unique<RequestPool<Numbered>>(
      1, [stands_on = std::move(stands_on)]() -> Result<Numbered> { return Numbered{*stands_on}; });
  {
    const auto lease = pool->checkout({});
    ASSERT_TRUE(lease.ok());
    pool.reset();
    EXPECT_FALSE(watched.expired());
  }
  EXPECT_TRUE(watched.expired());
}

TEST(RequestPoolTest, BeyondTheLongestQueueItIsBusyAtOnce) {
  std::atomic<int> made{0};
  RequestPool<Numbered> pool(1, counting(made));
  auto held = std::make_unique<Result<RequestPool<Numbered>::Lease>>(pool.checkout({}));
  const auto cancellation = Cancellation::create();
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < RequestPool<Numbered>::kWaitersMax; ++i) {
    threads.emplace_back(
        [&] { EXPECT_EQ(pool.checkout({.cancellation = cancellation}).status().code(), StatusCode::kCancelled); });
  }
  while (pool.waiting() != RequestPool<Numbered>::kWaitersMax)
    std::this_thread::yield();
  const auto refused = pool.checkout({});
  EXPECT_EQ(refused.status().code(), StatusCode::kBusy);
  EXPECT_EQ(pool.waiting(), RequestPool<Numbered>::kWaitersMax);
  // All of them go at one word.
  cancellation.request();
  for (auto& thread : threads)
    thread.join();
  EXPECT_EQ(pool.waiting(), 0U);
  held.reset();
  EXPECT_TRUE(pool.checkout({}).ok());
}

TEST(RequestPoolTest, WhoIsCancelledLeavesTheQueueAndTheOthersStay) {
  std::atomic<int> made{0};
  RequestPool<Numbered> pool(1, counting(made));
  auto held = std::make_unique<Result<RequestPool<Numbered>::Lease>>(pool.checkout({}));
  const auto cancellation = Cancellation::create();
  std::thread first(
      [&] { EXPECT_EQ(pool.checkout({.cancellation = cancellation}).status().code(), StatusCode::kCancelled); });
  while (pool.waiting() != 1)
    std::this_thread::yield();
  std::thread second([&] { EXPECT_TRUE(pool.checkout({}).ok()); });
  while (pool.waiting() != 2)
    std::this_thread::yield();
  cancellation.request();
  first.join();
  EXPECT_EQ(pool.waiting(), 1U);
  held.reset();
  second.join();
}

TEST(RequestPoolTest, WhoWaitsForCallsThatAllHangIsTold) {
  std::atomic<int> made{0};
  RequestPool<Numbered> pool(2, counting(made));
  auto first = pool.checkout({});
  auto second = pool.checkout({});
  ASSERT_TRUE(first.ok() && second.ok());
  first->calling(milliseconds(0));
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; ++i) {
    threads.emplace_back([&] {
      const auto refused = pool.checkout({});
      EXPECT_EQ(refused.status().code(), StatusCode::kDeviceFailed);
      EXPECT_EQ(refused.status().message().substr(0, 5), "hung:");
    });
  }
  while (pool.waiting() != 3)
    std::this_thread::yield();
  // As long as one may come back, they wait.
  second->calling(milliseconds(20));
  for (auto& thread : threads)
    thread.join();
  EXPECT_EQ(pool.waiting(), 0U);
  // One that comes back after all serves again.
  { const auto back = std::move(*first); }
  EXPECT_TRUE(pool.checkout({}).ok());
}

TEST(RequestPoolTest, IsFullAgainAfterAnySequenceOfFaults) {
  std::atomic<int> made{0};
  std::atomic<int> alive{0};
  struct Tracked {
    explicit Tracked(std::atomic<int>& count) : count_(&count) { ++*count_; }
    Tracked(Tracked&& other) noexcept : count_(std::exchange(other.count_, nullptr)) {}
    Tracked& operator=(Tracked&& other) noexcept {
      std::swap(count_, other.count_);
      return *this;
    }
    ~Tracked() {
      if (count_) --*count_;
    }
    std::atomic<int>* count_;
  };
  {
    RequestPool<Tracked> pool(4, [&]() -> Result<Tracked> {
      // Alone for a while, then in bursts: as drivers fail.
      const int now = ++made;
      if (now % 7 == 0 || now / 50 % 4 == 3) return Status(StatusCode::kDeviceFailed, "no request this time");
      if (now % 5 == 0) throw std::bad_alloc();
      return Tracked(alive);
    });
    std::vector<std::thread> threads;
    std::atomic<int> inside{0};
    std::atomic<bool> overcrowded{false};
    std::atomic<bool> other_errors{false};
    for (unsigned t = 0; t < 8; ++t) {
      threads.emplace_back([&, t] {
        std::minstd_rand random(t + 1);
        for (int i = 0; i < 500; ++i) {
          RunOptions options;
          if (random() % 3 == 0) options.deadline = Clock::now() + std::chrono::microseconds(random() % 50);
          const auto checkout = [&]() -> Result<RequestPool<Tracked>::Lease> {
            try {
              return pool.checkout(options);
            } catch (const std::bad_alloc&) {
              return Status(StatusCode::kDeviceFailed, "no memory this time");
            }
          };
          auto lease = checkout();
          if (!lease.ok()) {
            const auto code = lease.status().code();
            if (code != StatusCode::kBusy && code != StatusCode::kDeviceFailed) other_errors = true;
            continue;
          }
          if (++inside > 4) overcrowded = true;
          if (random() % 5 == 0) lease->mark_broken();
          --inside;
        }
      });
    }
    for (auto& thread : threads)
      thread.join();
    EXPECT_FALSE(overcrowded);
    EXPECT_FALSE(other_errors);
    EXPECT_EQ(pool.idle(), 4U);
    EXPECT_EQ(pool.waiting(), 0U);
  }
  EXPECT_EQ(alive, 0);
}

}  // namespace
}  // namespace latebind::core
