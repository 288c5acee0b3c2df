#include "core/vendor/vendor_call.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <mutex>
#include <new>
#include <set>
#include <stdexcept>
#include <thread>
#include <vector>

#include "tests/support/latch.h"

namespace latebind::core {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using testing::HasSubstr;
using Clock = std::chrono::steady_clock;

RunOptions within(milliseconds time) {
  return {.deadline = Clock::now() + time};
}

class VendorCallTest : public testing::Test {
 protected:
  void TearDown() override {
    while (given_up_calls() != 0)
      std::this_thread::yield();
  }
};

TEST_F(VendorCallTest, GivesWhatTheWorkGave) {
  const auto never = [] { ADD_FAILURE() << "it came back in time"; };
  EXPECT_TRUE(call_until(
                  within(hours(1)), "a:b", [] { return Status(); }, never)
                  .ok());
  const auto failed = call_until(
      within(hours(1)), "a:b", [] { return Status(StatusCode::kInvalidArgument, "no"); }, never);
  EXPECT_EQ(failed.code(), StatusCode::kInvalidArgument);
}

TEST_F(VendorCallTest, WhatTheWorkThrowsIsItsStatus) {
  const auto thrown = [](auto exception) {
    return call_until(
        within(hours(1)), "a:b", [exception]() -> Status { throw exception; }, [] {});
  };
  EXPECT_EQ(thrown(std::bad_alloc()).code(), StatusCode::kOutOfMemory);
  EXPECT_THAT(thrown(std::runtime_error("the vendor threw")).to_string(), HasSubstr("the vendor threw"));
  EXPECT_EQ(thrown(7).code(), StatusCode::kInternal);
}

TEST_F(VendorCallTest, ReturnsAtTheDeadlineAndKeepsAliveWhatTheCallUses) {
  const auto gate = std::make_shared<test::Latch>(1);
  auto used = std::make_shared<int>(1);
  const std::weak_ptr<int> watched = used;
  const auto stopped = std::make_shared<test::Latch>(1);
  const auto began = Clock::now();
  const auto status = call_until(
      within(milliseconds(20)), "a:b",
      [gate, used = std::move(used)] {
        gate->wait();
        return Status();
      },
      [stopped] { stopped->count_down(); });
  EXPECT_EQ(status.code(), StatusCode::kDeadlineExceeded);
  EXPECT_GE(Clock::now() - began, milliseconds(20));
  EXPECT_LT(Clock::now() - began, std::chrono::seconds(30));
  stopped->wait();
  EXPECT_EQ(given_up_calls(), 1U);
  EXPECT_EQ(given_up_calls("a:b"), 1U);
  EXPECT_EQ(given_up_calls("a:c"), 0U);
  EXPECT_EQ(hung_calls(), 0U) << "a deadline is the caller's affair";
  EXPECT_FALSE(watched.expired());
  gate->count_down();
  while (given_up_calls() != 0)
    std::this_thread::yield();
  EXPECT_TRUE(watched.expired()) << "it is let go before the call counts as returned";
}

TEST_F(VendorCallTest, NobodyWaitsForAVendorThatIsSlowToStop) {
  const auto gate = std::make_shared<test::Latch>(1);
  const auto stopping = std::make_shared<test::Latch>(1);
  const auto wait = [gate] {
    gate->wait();
    return Status();
  };
  const auto status = call_until(within(milliseconds(5)), "a:b", wait, [gate, stopping] {
    stopping->count_down();
    gate->wait();
  });
  EXPECT_EQ(status.code(), StatusCode::kDeadlineExceeded);
  stopping->wait();
  gate->count_down();
}

TEST_F(VendorCallTest, CountsUntilItsStopIsBackAndHasLetGoOfWhatItUses) {
  const auto gate = std::make_shared<test::Latch>(1);
  const auto stopping = std::make_shared<test::Latch>(1);
  const auto slow = std::make_shared<test::Latch>(1);
  auto used = std::make_shared<int>(1);
  const std::weak_ptr<int> watched = used;
  const auto call = VendorCall::start(
      "a:b",
      [gate] {
        gate->wait();
        return Status();
      },
      [stopping, slow, used = std::move(used)] {
        stopping->count_down();
        slow->wait();
      });
  ASSERT_TRUE(call.ok()) << call.status().to_string();
  ASSERT_TRUE((*call)->give_up({}));
  stopping->wait();
  gate->count_down();
  while (!(*call)->has_returned())
    std::this_thread::yield();
  EXPECT_EQ(given_up_calls("a:b"), 1U);
  slow->count_down();
  while (given_up_calls() != 0)
    std::this_thread::yield();
  EXPECT_TRUE(watched.expired());
}

TEST_F(VendorCallTest, EveryVendorIsToldToStopInTheEndHoweverManyAreSlowToIt) {
  constexpr std::size_t kCalls = VendorCall::kMax;
  const auto gate = std::make_shared<test::Latch>(1);
  const auto slow = std::make_shared<test::Latch>(1);
  const auto told = std::make_shared<test::Latch>(kCalls);
  std::vector<std::shared_ptr<VendorCall>> calls;
  for (std::size_t i = 0; i < kCalls; ++i) {
    auto started = VendorCall::start(
        "a:b",
        [gate] {
          gate->wait();
          return Status();
        },
        [slow, told] {
          slow->wait();
          told->count_down();
        });
    ASSERT_TRUE(started.ok()) << started.status().to_string();
    calls.push_back(*std::move(started));
  }
  for (const auto& call : calls)
    EXPECT_TRUE(call->give_up({}));
  slow->count_down();
  told->wait();
  gate->count_down();
}

TEST_F(VendorCallTest, ReturnsAtOnceWhenItIsCancelled) {
  const auto gate = std::make_shared<test::Latch>(1);
  const auto running = std::make_shared<test::Latch>(1);
  const auto cancellation = Cancellation::create();
  std::thread cancelling([&] {
    running->wait();
    cancellation.request();
  });
  const auto status = call_until(
      {.cancellation = cancellation}, "a:b",
      [gate, running] {
        running->count_down();
        gate->wait();
        return Status();
      },
      [] {});
  cancelling.join();
  EXPECT_EQ(status.code(), StatusCode::kCancelled);
  gate->count_down();
}

TEST_F(VendorCallTest, ARunTimeoutIsTheDevicesFaultFromThatTimeOn) {
  const auto gate = std::make_shared<test::Latch>(1);
  const auto wait = [gate] {
    gate->wait();
    return Status();
  };
  const auto status = call_until({.run_timeout = milliseconds(5)}, "a:b", wait, [] {});
  EXPECT_EQ(status.code(), StatusCode::kDeviceFailed);
  EXPECT_THAT(status.to_string(), HasSubstr("hung: a:b did not finish within 5 ms"));
  EXPECT_EQ(hung_calls("a:b"), 1U);
  // Given up before, and hung all the same once the time has passed.
  RunOptions both = within(milliseconds(1));
  both.run_timeout = milliseconds(30);
  EXPECT_EQ(call_until(both, "a:b", wait, [] {}).code(), StatusCode::kDeadlineExceeded);
  while (hung_calls("a:b") != 2)
    std::this_thread::yield();
  gate->count_down();
}

TEST_F(VendorCallTest, ADeviceWithTooManyHungCallsGetsNoOther) {
  const auto gate = std::make_shared<test::Latch>(1);
  for (std::size_t i = 0; i < kHungCallsMax; ++i) {
    EXPECT_TRUE(check_not_hung("a:b", "run").ok());
    const auto status = call_until(
        {.run_timeout = milliseconds(1)}, "a:b",
        [gate] {
          gate->wait();
          return Status();
        },
        [] {});
    EXPECT_EQ(status.code(), StatusCode::kDeviceFailed);
  }
  EXPECT_EQ(check_not_hung("a:b", "run").code(), StatusCode::kDeviceFailed);
  EXPECT_TRUE(check_not_hung("a:c", "run").ok());
  gate->count_down();
  while (given_up_calls() != 0)
    std::this_thread::yield();
  EXPECT_TRUE(check_not_hung("a:b", "run").ok());
}

TEST_F(VendorCallTest, CallsOneAfterTheOtherShareThreads) {
  const auto mutex = std::make_shared<std::mutex>();
  const auto threads = std::make_shared<std::set<std::thread::id>>();
  for (int i = 0; i < 200; ++i) {
    EXPECT_TRUE(call_until(
                    within(hours(1)), "a:b",
                    [mutex, threads] {
                      const std::lock_guard lock(*mutex);
                      threads->insert(std::this_thread::get_id());
                      return Status();
                    },
                    [] {})
                    .ok());
  }
  EXPECT_LT(threads->size(), 20U);
}

TEST_F(VendorCallTest, BeyondTheMostCallsItIsBusyAtOnce) {
  const auto gate = std::make_shared<test::Latch>(1);
  std::vector<std::shared_ptr<VendorCall>> calls;
  for (;;) {
    auto started = VendorCall::start("a:b", [gate] {
      gate->wait();
      return Status();
    });
    if (!started.ok()) {
      EXPECT_EQ(started.status().code(), StatusCode::kBusy);
      break;
    }
    calls.push_back(*std::move(started));
    ASSERT_LE(calls.size(), VendorCall::kMax);
  }
  EXPECT_FALSE(calls.front()->has_returned());
  gate->count_down();
  for (const auto& call : calls)
    EXPECT_EQ(call->wait({}), VendorCall::End::kReturned);
  EXPECT_TRUE(call_until(
                  within(hours(1)), "a:b", [] { return Status(); }, [] {})
                  .ok());
}

TEST_F(VendorCallTest, AnyNumberWaitsForOneCallEachAsLongAsHeCan) {
  const auto gate = std::make_shared<test::Latch>(1);
  auto call = VendorCall::start("a:b", [gate] {
    gate->wait();
    return Status(StatusCode::kInvalidModel, "as it turned out");
  });
  ASSERT_TRUE(call.ok());
  EXPECT_EQ((*call)->wait(within(milliseconds(1))), VendorCall::End::kDeadline);
  EXPECT_EQ((*call)->wait({.run_timeout = milliseconds(1)}), VendorCall::End::kTimeout);
  std::vector<std::thread> patient;
  for (int i = 0; i < 4; ++i)
    patient.emplace_back([&] { EXPECT_EQ((*call)->wait({}), VendorCall::End::kReturned); });
  gate->count_down();
  for (std::thread& thread : patient)
    thread.join();
  EXPECT_EQ((*call)->status().code(), StatusCode::kInvalidModel);
  EXPECT_FALSE((*call)->give_up({})) << "it has returned";
}

}  // namespace
}  // namespace latebind::core
