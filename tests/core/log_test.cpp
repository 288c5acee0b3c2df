#include "core/log.h"

#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <thread>
#include <vector>

namespace latebind::core {
namespace {

TEST(LogTest, IsSilentUntilASinkIsSetAndAfterItIsRemoved) {
  EXPECT_FALSE(log_enabled(LogLevel::kError));
  std::vector<std::string> lines;
  set_log_sink([&](LogLevel, std::string_view text) { lines.emplace_back(text); }, LogLevel::kWarning);
  log(LogLevel::kInfo, "below");
  log(LogLevel::kWarning, "seen");
  set_log_sink({});
  log(LogLevel::kError, "after");
  EXPECT_EQ(lines, std::vector<std::string>{"seen"});
}

TEST(LogTest, ManyThreadsMayLogWhileTheSinkChanges) {
  std::atomic<int> seen{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([] {
      for (int i = 0; i < 1000; ++i)
        log(LogLevel::kInfo, "line");
    });
  }
  for (int i = 0; i < 100; ++i) {
    set_log_sink([&](LogLevel, std::string_view) { ++seen; });
    set_log_sink({});
  }
  for (auto& thread : threads)
    thread.join();
  const int before = seen;
  log(LogLevel::kError, "after");
  EXPECT_EQ(seen, before);
}

}  // namespace
}  // namespace latebind::core
