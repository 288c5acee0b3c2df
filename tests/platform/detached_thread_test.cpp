// Detached threads: each does its work once, however many come and go.
#include "core/platform/detached_thread.h"

#include <gtest/gtest.h>

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <vector>

namespace latebind::platform {
namespace {

TEST(DetachedThreadTest, EachDoesItsWorkOnce) {
  constexpr int kStarters = 4;
  constexpr int kThreads = 500;
  std::mutex mutex;
  std::condition_variable came;
  int done = 0;  // guarded by mutex
  std::vector<std::thread> starters;
  for (int i = 0; i < kStarters; ++i) {
    starters.emplace_back([&] {
      for (int j = 0; j < kThreads; ++j) {
        run_detached([&] {
          const std::lock_guard lock(mutex);
          ++done;
          came.notify_all();
        });
      }
    });
  }
  for (auto& starter : starters)
    starter.join();
  std::unique_lock lock(mutex);
  EXPECT_TRUE(came.wait_for(lock, std::chrono::minutes(1), [&] { return done == kStarters * kThreads; })) << done;
}

}  // namespace
}  // namespace latebind::platform
