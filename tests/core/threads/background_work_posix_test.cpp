#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <memory>
#include <thread>

#include "core/threads/background_work.h"
#include "core/vendor/vendor_call.h"
#include "tests/support/latch.h"

namespace latebind::core {
namespace {

constexpr int kInTime = 7;
constexpr int kTooEarly = 8;

// For one death test each: they are processes of their own.
test::Latch g_exit_began(1);
std::atomic<bool> g_returned{false};

void begin_a_call_that_ends_after_exit_began() {
  const auto call = VendorCall::start("a:b", [] {
    g_exit_began.wait();
    g_returned = true;
    return Status();
  });
  if (!call.ok()) std::abort();
}

// As the destructor of a vendor's static object.
void vendors_destructor() {
  std::_Exit(g_returned ? kInTime : kTooEarly);
}

// The main thread's own objects go first, the last that was made before the others.
[[noreturn]] void end_main() {
  struct ExitBegins {
    bool begins = true;
    ~ExitBegins() { g_exit_began.count_down(); }
  };
  thread_local ExitBegins last_made_goes_first;
  if (last_made_goes_first.begins) std::atexit(vendors_destructor);
  std::exit(0);
}

class BackgroundWorkTest : public testing::Test {};

TEST_F(BackgroundWorkTest, IsCountedWhileItLives) {
  const std::size_t before = background_work();
  {
    auto work = BackgroundWork::begin();
    ASSERT_TRUE(work);
    const BackgroundWork moved = *std::move(work);
    work.reset();  // NOLINT(bugprone-use-after-move): what is left of it counts nothing
    EXPECT_EQ(background_work(), before + 1);
  }
  EXPECT_EQ(background_work(), before);
}

TEST_F(BackgroundWorkTest, ACallCountsUntilTheVendorIsBack) {
  const std::size_t before = background_work();
  const auto gate = std::make_shared<test::Latch>(1);
  const auto call = VendorCall::start("a:b", [gate] {
    gate->wait();
    return Status();
  });
  ASSERT_TRUE(call.ok());
  EXPECT_EQ(background_work(), before + 1);
  gate->count_down();
  EXPECT_EQ((*call)->wait({}), VendorCall::End::kReturned);
  EXPECT_EQ(background_work(), before);
}

// What vendors make static in the middle of a call is destroyed before what was asked for earlier.
TEST_F(BackgroundWorkTest, TheEndOfMainWaitsForItBeforeAnyStaticObjectGoes) {
  EXPECT_EXIT(
      {
        register_exit_mark();
        begin_a_call_that_ends_after_exit_began();
        end_main();
      },
      testing::ExitedWithCode(kInTime), "");
}

TEST_F(BackgroundWorkTest, AnExitOnAnotherThreadWaitsForItBeforeWhatTheVendorsLibraryHasMade) {
  EXPECT_EXIT(
      {
        std::atexit(vendors_destructor);
        register_exit_mark();
        std::atexit([] { g_exit_began.count_down(); });
        std::thread([] {
          begin_a_call_that_ends_after_exit_began();
          std::exit(0);
        }).join();
      },
      testing::ExitedWithCode(kInTime), "");
}

TEST_F(BackgroundWorkTest, TheEndOfMainWaitsForWhatAnotherThreadHasBegun) {
  EXPECT_EXIT(
      {
        std::thread([] { begin_a_call_that_ends_after_exit_began(); }).join();
        end_main();
      },
      testing::ExitedWithCode(kInTime), "");
}

// What latebind.h tells a program to do that knows of such a call.
TEST_F(BackgroundWorkTest, AProgramThatLeavesByItsOwnMeansWaitsForNobody) {
  EXPECT_EXIT(
      {
        register_exit_mark();
        const auto call = VendorCall::start("a:b", [] {
          std::this_thread::sleep_for(std::chrono::hours(1));
          return Status();
        });
        RunOptions options;
        options.deadline = std::chrono::steady_clock::now();
        if (!call.ok() || (*call)->wait(options) != VendorCall::End::kDeadline || !(*call)->give_up({})) ::_exit(1);
        ::_exit(kInTime);
      },
      testing::ExitedWithCode(kInTime), "");
}

TEST_F(BackgroundWorkTest, NoneBeginsOnceTheProcessHasWaitedForIt) {
  EXPECT_EXIT(
      {
        std::atexit([] {
          const auto call = VendorCall::start("a:b", [] { return Status(); });
          std::_Exit(!BackgroundWork::begin() && call.status().code() == StatusCode::kBusy ? kInTime : kTooEarly);
        });
        register_exit_mark();
        std::exit(0);
      },
      testing::ExitedWithCode(kInTime), "");
}

TEST_F(BackgroundWorkTest, NothingBeginsInWhatRunsAfterTheMark) {
  EXPECT_EXIT(
      {
        std::atexit([] {
          const ForegroundWork late;
          std::_Exit(!late.may_begin() && check_not_ending().code() == StatusCode::kBusy ? kInTime : kTooEarly);
        });
        register_exit_mark();
        std::exit(0);
      },
      testing::ExitedWithCode(kInTime), "");
}

TEST_F(BackgroundWorkTest, WhatWasRegisteredAfterTheLastMarkMayStillWork) {
  EXPECT_EXIT(
      {
        register_exit_mark();
        std::atexit([] {
          const ForegroundWork early;
          std::_Exit(early.may_begin() && check_not_ending().ok() ? kInTime : kTooEarly);
        });
        std::exit(0);
      },
      testing::ExitedWithCode(kInTime), "");
}

TEST_F(BackgroundWorkTest, ALaterMarkComesFirst) {
  EXPECT_EXIT(
      {
        register_exit_mark();
        std::atexit([] { std::_Exit(ForegroundWork().may_begin() ? kTooEarly : kInTime); });
        register_exit_mark();
        std::exit(0);
      },
      testing::ExitedWithCode(kInTime), "");
}

TEST_F(BackgroundWorkTest, TheMarkWaitsForACallOnAnotherThread) {
  EXPECT_EXIT(
      {
        std::atexit(vendors_destructor);
        register_exit_mark();
        std::atexit([] { g_exit_began.count_down(); });
        test::Latch begun(1);
        std::thread([&] {
          const ForegroundWork work;
          begun.count_down();
          g_exit_began.wait();
          g_returned = true;
        }).detach();
        begun.wait();
        std::exit(0);
      },
      testing::ExitedWithCode(kInTime), "");
}

// A vendor makes static objects when it is first used: they go before what was asked for earlier.
TEST_F(BackgroundWorkTest, TheEndOfMainWaitsForACallOnAnotherThreadBeforeAnyStaticObjectGoes) {
  EXPECT_EXIT(
      {
        register_exit_mark();
        test::Latch begun(1);
        std::thread([&] {
          const ForegroundWork work;
          begun.count_down();
          g_exit_began.wait();
          g_returned = true;
        }).detach();
        begun.wait();
        end_main();
      },
      testing::ExitedWithCode(kInTime), "");
}

TEST_F(BackgroundWorkTest, ACallThatWouldBeginWhileMainEndsIsRefusedAtTheMark) {
  EXPECT_EXIT(
      {
        static test::Latch asks(1);
        static test::Latch refused(1);
        std::atexit([] {
          refused.wait();
          std::_Exit(g_returned ? kInTime : kTooEarly);
        });
        register_exit_mark();
        // Of the thread that ends: nothing is held up there.
        std::atexit([] {
          const ForegroundWork own;
          g_returned = own.may_begin();
          asks.count_down();
        });
        std::thread([] {
          asks.wait();
          if (ForegroundWork().may_begin()) std::_Exit(kTooEarly);
          refused.count_down();
        }).detach();
        std::exit(0);
      },
      testing::ExitedWithCode(kInTime), "");
}

// As after pthread_exit() on the main thread, which looks the same: no mark comes.
TEST_F(BackgroundWorkTest, OtherThreadsGoOnAfterAPauseWhenTheProcessDoesNotEnd) {
  EXPECT_EXIT(
      {
        register_exit_mark();
        std::atexit([] {
          std::thread([] {
            for (int i = 0; i < 2; ++i)
              if (!ForegroundWork().may_begin() || !BackgroundWork::begin()) std::_Exit(kTooEarly);
          }).join();
          std::_Exit(kInTime);
        });
        std::exit(0);
      },
      testing::ExitedWithCode(kInTime), "");
}

// It would wait for itself.
TEST_F(BackgroundWorkTest, AnExitInTheMiddleOfACallDoesNotWaitForIt) {
  EXPECT_EXIT(
      {
        static std::chrono::steady_clock::time_point began;
        std::atexit([] {
          const bool in_time = std::chrono::steady_clock::now() - began < kExitPatience / 2;
          std::_Exit(in_time ? kInTime : kTooEarly);
        });
        register_exit_mark();
        const ForegroundWork work;
        began = std::chrono::steady_clock::now();
        std::exit(0);
      },
      testing::ExitedWithCode(kInTime), "");
}

}  // namespace
}  // namespace latebind::core
