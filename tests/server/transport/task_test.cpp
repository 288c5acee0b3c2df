// Task and Signal: the order in which coroutines run, and what becomes of exceptions.
#include "server/transport/task.h"

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>

namespace latebind::server {
namespace {

// What the coroutines have done, and what they wait for.
struct Log {
  std::string text{};
  Signal signal{};
};

Task<int> count_up(Log& log, int from) {
  log.text += "b";
  co_await log.signal;
  log.text += "c";
  co_return from + 1;
}

DetachedTask run(Log& log) {
  log.text += "a";
  const int count = co_await count_up(log, 41);
  log.text += std::to_string(count);
}

TEST(TaskTest, RunsUntilItWaitsAndContinuesWithTheSignal) {
  Log log;
  run(log);
  EXPECT_EQ(log.text, "ab");
  log.signal.set();
  EXPECT_EQ(log.text, "abc42");
}

TEST(TaskTest, ASignalThatCameBeforeEndsTheNextWaitAlone) {
  Log log;
  log.signal.set();
  log.signal.set();
  run(log);
  EXPECT_EQ(log.text, "abc42");
  run(log);
  EXPECT_EQ(log.text, "abc42ab");
  log.signal.set();
}

Task<> fail(Log& log) {
  co_await log.signal;
  throw std::runtime_error("no memory");
}

DetachedTask run_failing(Log& log) {
  try {
    co_await fail(log);
  } catch (const std::runtime_error& failure) {
    log.text = failure.what();
  }
}

TEST(TaskTest, AnExceptionReachesItsAwaiter) {
  Log log;
  run_failing(log);
  log.signal.set();
  EXPECT_EQ(log.text, "no memory");
}

Task<std::size_t> sum_to(std::size_t count) {
  co_return count;
}

DetachedTask sum(std::size_t count, std::size_t& total) {
  for (std::size_t i = 1; i <= count; ++i) {
    const std::size_t one = co_await sum_to(i);
    total += one;
  }
}

// These end without ever waiting.
TEST(TaskTest, TasksMayRunInALoop) {
  std::size_t total = 0;
  sum(1000, total);
  EXPECT_EQ(total, std::size_t{500500});
}

}  // namespace
}  // namespace latebind::server
