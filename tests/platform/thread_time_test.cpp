#include "core/platform/thread_time.h"

#include <gtest/gtest.h>

#include <thread>

namespace latebind::platform {
namespace {

using std::chrono::milliseconds;

TEST(ThreadTimeTest, IsWhatTheThreadHasDoneAlone) {
  const auto before = thread_time();
  std::thread([] {
    const auto begin = thread_time();
    while (thread_time() - begin < milliseconds(50)) {
    }
  }).join();
  EXPECT_LT(thread_time() - before, milliseconds(50));
  while (thread_time() - before < milliseconds(1)) {
  }
}

}  // namespace
}  // namespace latebind::platform
