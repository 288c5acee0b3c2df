#include "core/threads/abandonable_call.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <stdexcept>
#include <thread>
#include <utility>
#include <vector>

#include "tests/support/latch.h"

namespace latebind::core {
namespace {

using std::chrono::milliseconds;
using Clock = AbandonableCall::Clock;

// Counts what it is told.
class Watched final : public AbandonableCall {
 public:
  using AbandonableCall::AbandonableCall;
  std::atomic<int> abandoned{0};
  std::atomic<int> released{0};
  test::Latch is_released{1};

 private:
  void on_abandoned() override { ++abandoned; }
  void on_released() override {
    ++released;
    is_released.count_down();
  }
};

std::shared_ptr<Watched> started(std::function<Status()> work, std::function<void()> stop = nullptr) {
  auto call = std::make_shared<Watched>(std::move(work), std::move(stop));
  const Status status = AbandonableCall::start(call);
  EXPECT_TRUE(status.ok()) << status.to_string();
  return call;
}

TEST(AbandonableCallTest, ReturnsWhatTheWorkReturns) {
  const auto call = started([] { return Status(StatusCode::kIo, "told"); });
  EXPECT_TRUE(call->wait(std::nullopt, {}));
  EXPECT_TRUE(call->has_returned());
  EXPECT_EQ(call->status().code(), StatusCode::kIo);
  EXPECT_FALSE(call->abandon());
  EXPECT_EQ(call->abandoned.load(), 0);
}

TEST(AbandonableCallTest, AnExceptionBecomesTheStatus) {
  const auto call = started([]() -> Status { throw std::runtime_error("thrown"); });
  EXPECT_TRUE(call->wait(std::nullopt, {}));
  EXPECT_NE(call->status().to_string().find("thrown"), std::string::npos);
}

TEST(AbandonableCallTest, WhatTheWorkOwnsIsGoneWhenTheCallHasReturned) {
  for (int i = 0; i < 100; ++i) {
    const auto owned = std::make_shared<int>(0);
    const auto call = started([owned] { return Status(); }, [owned] {});
    EXPECT_TRUE(call->wait(std::nullopt, {}));
    EXPECT_EQ(owned.use_count(), 1);
  }
}

TEST(AbandonableCallTest, AWaitEndsWithItsTimeAndWithItsCancellation) {
  test::Latch may_return(1);
  const auto call = started([&] {
    may_return.wait();
    return Status();
  });
  EXPECT_FALSE(call->wait(Clock::now() + milliseconds(1), {}));
  const auto cancellation = Cancellation::create();
  std::thread canceller([&] { cancellation.request(); });
  EXPECT_FALSE(call->wait(std::nullopt, cancellation));
  canceller.join();
  may_return.count_down();
  EXPECT_TRUE(call->wait(std::nullopt, {}));
}

TEST(AbandonableCallTest, AnAbandonedCallGoesOnAndIsReleasedOnce) {
  test::Latch may_return(1);
  const auto call = started([&] {
    may_return.wait();
    return Status();
  });
  EXPECT_TRUE(call->abandon());
  EXPECT_TRUE(call->abandon());
  EXPECT_EQ(call->abandoned.load(), 1);
  EXPECT_EQ(call->released.load(), 0);
  may_return.count_down();
  call->is_released.wait();
  EXPECT_TRUE(call->wait(std::nullopt, {}));
  EXPECT_EQ(call->released.load(), 1);
}

TEST(AbandonableCallTest, StopIsCalledOnAnotherThreadAndMayEndTheWork) {
  std::thread::id worker;
  std::thread::id stopper;
  test::Latch asked(1);
  const auto call = started(
      [&] {
        worker = std::this_thread::get_id();
        asked.wait();
        return Status();
      },
      [&] {
        stopper = std::this_thread::get_id();
        asked.count_down();
      });
  EXPECT_TRUE(call->abandon());
  call->is_released.wait();
  EXPECT_NE(worker, stopper);
}

TEST(AbandonableCallTest, ItIsReleasedAfterAStopThatReturnsLast) {
  test::Latch stopping(1);
  test::Latch may_stop(1);
  const auto call = started(
      [&] {
        stopping.wait();
        return Status();
      },
      [&] {
        stopping.count_down();
        may_stop.wait();
      });
  EXPECT_TRUE(call->abandon());
  EXPECT_TRUE(call->wait(std::nullopt, {}));
  EXPECT_EQ(call->released.load(), 0);
  may_stop.count_down();
  call->is_released.wait();
  EXPECT_EQ(call->released.load(), 1);
}

TEST(AbandonableCallTest, ReturningAndAbandoningAtOnceReleasesOnceOrNever) {
  for (int i = 0; i < 200; ++i) {
    test::Latch both(2);
    std::atomic<int> stops{0};
    const auto call = started(
        [&] {
          both.arrive_and_wait();
          return Status();
        },
        [&] { ++stops; });
    both.arrive_and_wait();
    if (call->abandon()) {
      call->is_released.wait();
      EXPECT_EQ(call->released.load(), 1);
      EXPECT_LE(stops.load(), 1);
    } else {
      EXPECT_EQ(call->released.load(), 0);
      EXPECT_EQ(stops.load(), 0);
    }
    EXPECT_TRUE(call->wait(std::nullopt, {}));
  }
}

TEST(AbandonableCallTest, BeyondTheLimitCallsAreRefusedAndStopsAreStillCalled) {
  test::Latch may_return(1);
  std::vector<std::shared_ptr<Watched>> calls;
  std::atomic<int> stops{0};
  Status refused;
  while (refused.ok()) {
    const auto call = std::make_shared<Watched>(
        [&] {
          may_return.wait();
          return Status();
        },
        [&] { ++stops; });
    refused = AbandonableCall::start(call);
    if (refused.ok()) calls.push_back(call);
    ASSERT_LE(calls.size(), AbandonableCall::kMax);
  }
  EXPECT_EQ(refused.code(), StatusCode::kBusy);
  ASSERT_FALSE(calls.empty());
  EXPECT_TRUE(calls.front()->abandon());
  while (stops.load() == 0)
    std::this_thread::yield();
  may_return.count_down();
  for (const auto& call : calls)
    EXPECT_TRUE(call->wait(std::nullopt, {}));
}

}  // namespace
}  // namespace latebind::core
