#include "core/log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cstddef>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "tests/support/latch.h"

namespace latebind::core {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// Keeps what it is told by one thread at a time.
struct Kept {
  std::vector<std::string> lines;
  void operator()(LogLevel, std::string_view text) { lines.emplace_back(text); }
};

class LogTest : public ::testing::Test {
 protected:
  void TearDown() override { set_log_sink({}); }
};

TEST_F(LogTest, IsSilentUntilASinkIsSetAndAfterItIsRemoved) {
  EXPECT_FALSE(log_enabled(LogLevel::kError));
  Kept kept;
  set_log_sink(LogSink::to(kept), LogLevel::kWarning);
  log(LogLevel::kInfo, "below");
  log(LogLevel::kWarning, "seen");
  set_log_sink({});
  log(LogLevel::kError, "after");
  EXPECT_THAT(kept.lines, ElementsAre("seen"));
}

TEST_F(LogTest, ManyThreadsMayLogWhileTheSinkChanges) {
  std::atomic<int> seen{0};
  auto count = [&](LogLevel, std::string_view) { ++seen; };
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([] {
      for (int i = 0; i < 1000; ++i)
        log(LogLevel::kInfo, "line");
    });
  }
  for (int i = 0; i < 100; ++i) {
    set_log_sink(LogSink::to(count));
    set_log_sink({});
    const int before = seen;
    std::this_thread::yield();
    EXPECT_EQ(seen, before);
  }
  for (auto& thread : threads)
    thread.join();
}

TEST_F(LogTest, ASinkThatHasBeenReplacedIsNotRunningAnyMore) {
  test::Latch entered(1);
  test::Latch go(1);
  std::atomic<bool> left = false;
  auto slow = [&](LogLevel, std::string_view) {
    entered.count_down();
    go.wait();
    left = true;
  };
  set_log_sink(LogSink::to(slow));
  std::thread speaker([] { log(LogLevel::kError, "line"); });
  entered.wait();
  bool left_before = false;
  std::thread setter([&] {
    set_log_sink({});
    left_before = left;
  });
  while (log_enabled(LogLevel::kError))  // until the setter waits
    std::this_thread::yield();
  go.count_down();
  setter.join();
  speaker.join();
  EXPECT_TRUE(left_before);
}

TEST_F(LogTest, ASinkMaySetAnother) {
  struct Replaced {
    Kept next;
    int calls = 0;
    void operator()(LogLevel, std::string_view) {
      ++calls;
      set_log_sink(LogSink::to(next));
    }
  } first;
  set_log_sink(LogSink::to(first));
  log(LogLevel::kError, "one");
  log(LogLevel::kError, "two");
  EXPECT_EQ(first.calls, 1);
  EXPECT_THAT(first.next.lines, ElementsAre("two"));
}

TEST_F(LogTest, WhatASinkCausesOnItsThreadIsNotTold) {
  struct Talker {
    Kept kept;
    void operator()(LogLevel level, std::string_view text) {
      kept(level, text);
      log(level, "an echo");
      const LogHold hold;
      log(level, "an echo that is held");
    }
  } talker;
  set_log_sink(LogSink::to(talker));
  log(LogLevel::kError, "line");
  log(LogLevel::kError, "next");
  EXPECT_THAT(talker.kept.lines, ElementsAre("line", "next"));
}

TEST_F(LogTest, LinesWaitForTheEndOfTheOutermostHold) {
  Kept kept;
  set_log_sink(LogSink::to(kept));
  {
    const LogHold outer;
    log(LogLevel::kInfo, "one");
    {
      const LogHold inner;
      log(LogLevel::kInfo, "two");
    }
    EXPECT_THAT(kept.lines, IsEmpty());
    std::thread([] { log(LogLevel::kInfo, "of another thread"); }).join();
    log(LogLevel::kInfo, "three");
  }
  EXPECT_THAT(kept.lines, ElementsAre("of another thread", "one", "two", "three"));
}

TEST_F(LogTest, AHoldKeepsSoManyLinesAndCountsTheRest) {
  Kept kept;
  set_log_sink(LogSink::to(kept));
  {
    const LogHold hold;
    for (std::size_t i = 0; i < kHeldLinesMax + 7; ++i)
      log(LogLevel::kInfo, std::to_string(i));
  }
  ASSERT_EQ(kept.lines.size(), kHeldLinesMax + 1);
  EXPECT_EQ(kept.lines[0], "lines dropped from the log before this one: 7");
  EXPECT_EQ(kept.lines.back(), std::to_string(kHeldLinesMax - 1));
}

TEST_F(LogTest, LinesOfAVendorComeOnAThreadOfOurs) {
  struct Where {
    Kept kept;
    std::vector<std::thread::id> threads;
    void operator()(LogLevel level, std::string_view text) {
      kept(level, text);
      threads.push_back(std::this_thread::get_id());
    }
  } where;
  set_log_sink(LogSink::to(where));
  std::thread([] { log_from_vendor(LogLevel::kWarning, "a vendor's"); }).join();
  EXPECT_THAT(where.kept.lines, IsEmpty());
  { const LogHold end_of_a_call; }
  EXPECT_THAT(where.kept.lines, ElementsAre("a vendor's"));
  std::thread([] { log_from_vendor(LogLevel::kWarning, "another"); }).join();
  log(LogLevel::kWarning, "ours");
  EXPECT_THAT(where.kept.lines, ElementsAre("a vendor's", "another", "ours"));
  EXPECT_THAT(where.threads, ::testing::Each(std::this_thread::get_id()));
}

TEST_F(LogTest, ASinkThatIsStuckHoldsUpSoManyThreadsAndTheRestIsCounted) {
  struct Stuck {
    test::Latch entered{static_cast<std::ptrdiff_t>(kSinkCallsMax)};
    test::Latch go{1};
    std::atomic<bool> gone = false;
    Kept kept;  // after `gone`
    void operator()(LogLevel level, std::string_view text) {
      if (gone) return kept(level, text);
      entered.count_down();
      go.wait();
    }
  } stuck;
  set_log_sink(LogSink::to(stuck));
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < kSinkCallsMax; ++i)
    threads.emplace_back([] { log(LogLevel::kInfo, "line"); });
  stuck.entered.wait();
  for (int i = 0; i < 1000; ++i)
    log(LogLevel::kInfo, "more");
  stuck.gone = true;
  stuck.go.count_down();
  for (std::thread& thread : threads)
    thread.join();
  log(LogLevel::kInfo, "again");
  EXPECT_THAT(stuck.kept.lines, ElementsAre("lines dropped from the log before this one: 1000", "again"));
}

TEST_F(LogTest, WhatASinkThrowsIsItsOwnAffair) {
  int calls = 0;
  auto thrower = [&](LogLevel, std::string_view) {
    ++calls;
    throw std::runtime_error("no");
  };
  set_log_sink(LogSink::to(thrower));
  log(LogLevel::kError, "one");
  log(LogLevel::kError, "two");
  EXPECT_EQ(calls, 2);
}

TEST_F(LogTest, TopicsThatNobodyWantsAreLeftOut) {
  Kept kept;
  set_log_sink(LogSink::to(kept), LogLevel::kWarning, static_cast<LogTopics>(LogTopic::kGeneral));
  log_from_vendor(LogLevel::kError, "a vendor's");
  log(LogLevel::kError, "a device rests", LogTopic::kFailover);
  log(LogLevel::kWarning, "ours");
  EXPECT_THAT(kept.lines, ElementsAre("ours"));
}

}  // namespace
}  // namespace latebind::core
