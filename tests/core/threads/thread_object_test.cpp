// Objects that a thread has for itself: from the first call to the thread's end, on every system.
#include "core/threads/thread_object.h"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <thread>

namespace latebind::core {
namespace {

std::atomic<int> g_alive{0};
std::atomic<int> g_damaged{0};
std::atomic<int> g_seen_at_the_end{0};

struct Counted {
  std::array<int, 64> values{};

  Counted() noexcept { ++g_alive; }
  Counted(const Counted&) = delete;
  Counted& operator=(const Counted&) = delete;
  ~Counted() {
    for (const int value : values)
      g_damaged += value == 7 ? 0 : 1;
    g_seen_at_the_end += ThreadObject<Counted>::get() != nullptr ? 1 : 0;
    --g_alive;
  }
};

TEST(ThreadObjectTest, IsOneForEachThreadAndGoesWithItWholeAndOnce) {
  constexpr int kThreads = 50;
  for (int i = 0; i < kThreads; ++i) {
    std::thread([] {
      Counted* const first = ThreadObject<Counted>::get();
      ASSERT_NE(first, nullptr);
      first->values.fill(7);
      EXPECT_EQ(ThreadObject<Counted>::get(), first);
      EXPECT_EQ(g_alive, 1);
    }).join();
    ASSERT_EQ(g_alive, 0);
  }
  EXPECT_EQ(g_damaged, 0) << "freed before it was destroyed";
  EXPECT_EQ(g_seen_at_the_end, 0) << "a thread that is ending makes no other one";
}

}  // namespace
}  // namespace latebind::core
