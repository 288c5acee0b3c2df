#include "backends/onnxruntime/watchdog.h"

#include <gtest/gtest.h>

#include <atomic>
#include <vector>

#include "tests/support/latch.h"

namespace latebind::onnxruntime {
namespace {

using Clock = Watchdog::Clock;

TEST(WatchdogTest, ActsAtTheDeadlineAndNotBefore) {
  Watchdog watchdog;
  test::Latch acted(1);
  Clock::time_point when;
  const auto deadline = Clock::now() + std::chrono::milliseconds(20);
  auto guard = watchdog.arm(deadline, [&] {
    when = Clock::now();
    acted.count_down();
  });
  ASSERT_TRUE(guard.ok());
  acted.wait();
  EXPECT_GE(when, deadline);
  EXPECT_TRUE(guard->disarm());
  EXPECT_FALSE(guard->disarm()) << "told twice";
}

TEST(WatchdogTest, DoesNothingOnceDisarmed) {
  Watchdog watchdog;
  std::atomic<int> acted{0};
  for (int i = 0; i < 100; ++i) {
    auto guard = watchdog.arm(Clock::now() + std::chrono::hours(1), [&] { ++acted; });
    ASSERT_TRUE(guard.ok());
    EXPECT_FALSE(guard->disarm());
  }
  EXPECT_EQ(acted, 0);
}

// Whether the action came or not, it is over when disarm() returns.
TEST(WatchdogTest, IsOverWhenDisarmed) {
  Watchdog watchdog;
  for (int i = 0; i < 200; ++i) {
    auto alive = std::make_unique<int>(0);
    bool acted = false;
    auto guard = watchdog.arm(Clock::now() + std::chrono::microseconds(i), [&] {
      ++*alive;
      acted = true;
    });
    ASSERT_TRUE(guard.ok());
    EXPECT_EQ(guard->disarm(), acted);
    alive.reset();
  }
}

TEST(WatchdogTest, ServesTheEarliestDeadlineFirst) {
  Watchdog watchdog;
  test::Latch acted(3);
  std::vector<int> order;  // written on the watchdog's thread only
  const auto now = Clock::now();
  auto late = watchdog.arm(now + std::chrono::milliseconds(60), [&] { order.push_back(3), acted.count_down(); });
  auto early = watchdog.arm(now + std::chrono::milliseconds(20), [&] { order.push_back(1), acted.count_down(); });
  auto middle = watchdog.arm(now + std::chrono::milliseconds(40), [&] { order.push_back(2), acted.count_down(); });
  ASSERT_TRUE(late.ok() && early.ok() && middle.ok());
  acted.wait();
  EXPECT_EQ(order, (std::vector<int>{1, 2, 3}));
}

TEST(WatchdogTest, GoesWithoutHavingBeenNeeded) {
  const Watchdog watchdog;
}

}  // namespace
}  // namespace latebind::onnxruntime
