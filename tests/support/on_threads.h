// The same work on several threads that begin at once.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <thread>
#include <vector>

#include "tests/support/latch.h"

namespace latebind::test {

// Calls work(thread), which returns what went wrong, on so many threads, and expects "" of each.
template <class Work>
void on_threads(int count, Work work) {
  Latch start(count);
  std::vector<std::string> errors(static_cast<std::size_t>(count));
  std::vector<std::thread> threads;
  for (int t = 0; t < count; ++t) {
    threads.emplace_back([&, t] {
      start.arrive_and_wait();
      errors[static_cast<std::size_t>(t)] = work(t);
    });
  }
  for (std::thread& thread : threads)
    thread.join();
  for (const std::string& error : errors)
    EXPECT_EQ(error, "");
}

}  // namespace latebind::test
