#include "core/threads/cancellation.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "tests/support/latch.h"

namespace latebind::core {
namespace {

TEST(CancellationTest, IsHeardByEveryCopyOnceAndForAll) {
  const auto cancellation = Cancellation::create();
  const auto copy = cancellation;
  EXPECT_FALSE(copy.is_requested());
  cancellation.request();
  cancellation.request();
  EXPECT_TRUE(copy.is_requested());
}

TEST(CancellationTest, WithoutAStateNobodyCanRequestIt) {
  const Cancellation none;
  EXPECT_FALSE(none.can_be_requested());
  none.request();
  EXPECT_FALSE(none.is_requested());
  const Cancellation::Watch watch(none, [] { ADD_FAILURE(); });
}

TEST(CancellationTest, CallsEachActionOnce) {
  const auto cancellation = Cancellation::create();
  int first = 0;
  int second = 0;
  int gone = 0;
  const Cancellation::Watch watch(cancellation, [&] { ++first; });
  {
    const Cancellation::Watch short_lived(cancellation, [&] { ++gone; });
  }
  const Cancellation::Watch other(cancellation, [&] { ++second; });
  cancellation.request();
  cancellation.request();
  EXPECT_EQ(first, 1);
  EXPECT_EQ(second, 1);
  EXPECT_EQ(gone, 0);
  int late = 0;
  const Cancellation::Watch after(cancellation, [&] { ++late; });
  EXPECT_EQ(late, 1) << "at once";
}

TEST(CancellationTest, AnActionIsOverWhenItsWatchIsGone) {
  for (int i = 0; i < 200; ++i) {
    const auto cancellation = Cancellation::create();
    test::Latch start(2);
    std::thread requesting([&] {
      start.arrive_and_wait();
      cancellation.request();
    });
    auto alive = std::make_unique<int>(0);
    {
      const Cancellation::Watch watch(cancellation, [&] { ++*alive; });
      start.arrive_and_wait();
    }
    alive.reset();
    requesting.join();
  }
}

}  // namespace
}  // namespace latebind::core
