// Threads: handles as those of the standard library.
#include "core/platform/thread.h"

#include <gtest/gtest.h>

#include <atomic>
#include <utility>
#include <vector>

#include "tests/support/latch.h"

namespace latebind::platform {
namespace {

TEST(ThreadTest, DoesItsWorkOnceBeforeItIsJoined) {
  constexpr int kThreads = 50;
  std::atomic<int> done{0};
  std::vector<Thread> threads;
  for (int i = 0; i < kThreads; ++i)
    threads.emplace_back([&] { ++done; });
  for (Thread& thread : threads) {
    EXPECT_TRUE(thread.joinable());
    thread.join();
    EXPECT_FALSE(thread.joinable());
  }
  EXPECT_EQ(done, kThreads);
}

TEST(ThreadTest, AHandleThatWasMovedIsNone) {
  Thread first;
  EXPECT_FALSE(first.joinable());
  EXPECT_FALSE(first.is_this());
  std::atomic<int> done{0};
  first = Thread([&] { ++done; });
  Thread second = std::move(first);
  EXPECT_FALSE(first.joinable());  // NOLINT(bugprone-use-after-move): what it says then
  EXPECT_FALSE(second.is_this());
  second.join();
  EXPECT_EQ(done, 1);
}

TEST(ThreadTest, KnowsWhetherItIsTheCallingOne) {
  Thread thread;
  // Not std::atomic's wait: libstdc++ loses wake-ups where the system has no futex.
  test::Latch is_assigned(1);
  bool is_this = false;
  thread = Thread([&] {
    is_assigned.wait();
    is_this = thread.is_this();
  });
  is_assigned.count_down();
  thread.join();
  EXPECT_TRUE(is_this);
}

}  // namespace
}  // namespace latebind::platform
