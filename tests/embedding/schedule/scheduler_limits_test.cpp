// Deadlines and cancellation.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <thread>
#include <vector>

#include "embedding/schedule/scheduler.h"
#include "tests/embedding/schedule/scheduler_rig.h"

namespace latebind::embedding {
namespace {

using core::Status;
using core::StatusCode;
using schedule_test::Client;
using schedule_test::Clock;
using schedule_test::HeldRig;
using schedule_test::Hold;
using schedule_test::How;
using schedule_test::Rig;
using schedule_test::Sizes;
using schedule_test::texts_of;
using schedule_test::until;
using schedule_test::wait_for_those_given_up;
using schedule_test::within;

TEST(SchedulerLimitsTest, WhoHasNoTimeLeftLeavesThoughTheVendorHoldsTheRun) {
  const auto hold = std::make_shared<Hold>();
  auto rig = std::make_unique<Rig>(Sizes{}, [hold](std::size_t) {
    hold->stop();
    return Status();
  });
  {
    const auto limits = within(std::chrono::milliseconds(30));
    Client client(*rig, texts_of(5, 8, 3), {.limits = limits});
    hold->entered.wait();
    EXPECT_EQ(client.submission.wait(limits).code(), StatusCode::kDeadlineExceeded);
  }
  // The run is held still, and nobody waits for it.
  rig.reset();
  hold->let_go.count_down();
  wait_for_those_given_up();
}

TEST(SchedulerLimitsTest, ARunIsGivenUpWhenTheLastWhoWaitsForItLeaves) {
  const auto second = std::make_shared<Hold>();
  HeldRig held({}, [second](std::size_t number) {
    if (number == 1) second->stop();
    return Status();
  });
  for (int i = 0; i < 3; ++i)
    held.add(10 + i, 8, {.limits = i == 1 ? within(std::chrono::hours(1)) : until(core::Cancellation::create())});
  held.open();
  second->entered.wait();
  const auto limits = held.rig.runs->limits_of(1);
  ASSERT_EQ(held.runs().at(0).rows, 3U);
  EXPECT_TRUE(limits.is_bounded());
  held.clients.pop_back();
  held.clients.pop_back();
  EXPECT_FALSE(limits.cancellation.is_requested());
  held.clients.pop_back();
  EXPECT_TRUE(limits.cancellation.is_requested());
  // The device goes on with others meanwhile.
  held.add(20, 8);
  held.expect_all_right();
  second->let_go.count_down();
  wait_for_those_given_up();
}

TEST(SchedulerLimitsTest, WhoStaysGetsHisVectorThoughOthersOfTheRunHaveLeft) {
  const auto second = std::make_shared<Hold>();
  HeldRig held({}, [second](std::size_t number) {
    if (number == 1) second->stop();
    return Status();
  });
  for (int i = 0; i < 2; ++i)
    held.add(10 + i, 8, {.limits = within(std::chrono::hours(1))});
  held.open();
  second->entered.wait();
  held.clients.erase(held.clients.begin());
  second->let_go.count_down();
  held.expect_all_right();
}

TEST(SchedulerLimitsTest, ARunHasTheTimeOfTheOneWhoHasMost) {
  const auto soon = Clock::now() + std::chrono::hours(1);
  const auto late = soon + std::chrono::hours(1);
  const core::RunOptions cancellable = until(core::Cancellation::create());
  const auto shared_by = [](const std::vector<core::RunOptions>& owners) {
    HeldRig held;
    for (std::size_t i = 0; i < owners.size(); ++i)
      held.add(static_cast<std::int32_t>(10 + i), 8, {.limits = owners[i]});
    held.open();
    held.expect_all_right();
    EXPECT_EQ(held.rows(), (std::vector<std::size_t>{owners.size()}));
    return held.rig.runs->limits_of(1);
  };
  EXPECT_EQ(shared_by({{.deadline = soon}, {.deadline = late}}).deadline, late);
  EXPECT_EQ(shared_by({{.deadline = late}, {.deadline = soon}}).deadline, late);
  for (const auto& owners : {std::vector<core::RunOptions>{cancellable, {.deadline = soon}},
                             std::vector<core::RunOptions>{{.deadline = soon}, cancellable}}) {
    const auto limits = shared_by(owners);
    EXPECT_FALSE(limits.deadline);
    EXPECT_TRUE(limits.is_bounded());
  }
  EXPECT_FALSE(shared_by({{.deadline = soon}, {}}).is_bounded());
  EXPECT_FALSE(shared_by({{}, {.deadline = soon}, cancellable}).is_bounded());
}

TEST(SchedulerLimitsTest, WhoSharesARunWithSomebodyWithoutLimitsStillLeavesInTime) {
  const auto second = std::make_shared<Hold>();
  HeldRig held({}, [second](std::size_t number) {
    if (number == 1) second->stop();
    return Status();
  });
  const auto cancellation = core::Cancellation::create();
  held.add(10, 8);
  held.add(11, 8, {.limits = until(cancellation)});
  held.open();
  second->entered.wait();
  cancellation.request();
  EXPECT_EQ(held.clients[1]->submission.wait(until(cancellation)).code(), StatusCode::kCancelled);
  held.clients.pop_back();
  second->let_go.count_down();
  held.expect_all_right();
}

TEST(SchedulerLimitsTest, CancellingFromAnotherThreadEndsTheWait) {
  const auto hold = std::make_shared<Hold>();
  Rig rig({}, [hold](std::size_t number) {
    if (number == 0) hold->stop();
    return Status();
  });
  const auto cancellation = core::Cancellation::create();
  const auto limits = until(cancellation);
  auto client = std::make_unique<Client>(rig, texts_of(5, 8, 3), How{.caller_helps = true, .limits = limits});
  std::thread canceller([&] {
    hold->entered.wait();
    cancellation.request();
  });
  EXPECT_EQ(client->submission.wait(limits).code(), StatusCode::kCancelled);
  client.reset();
  EXPECT_TRUE(rig.runs->limits_of(0).cancellation.is_requested());
  canceller.join();
  // The request is free again, though the vendor is still at it.
  Client next(rig, texts_of(5, 8, 1));
  next.expect_right();
  hold->let_go.count_down();
  wait_for_those_given_up();
}

TEST(SchedulerLimitsTest, AWaitThatWasCutShortLosesNothing) {
  const auto hold = std::make_shared<Hold>();
  Rig rig({}, [hold](std::size_t) {
    hold->stop();
    return Status();
  });
  const auto cancellation = core::Cancellation::create();
  cancellation.request();
  Client client(rig, texts_of(5, 8, 1), {.limits = within(std::chrono::hours(1))});
  hold->entered.wait();
  EXPECT_EQ(client.submission.wait(until(cancellation)).code(), StatusCode::kCancelled);
  EXPECT_EQ(client.submission.wait(within(std::chrono::milliseconds(-1))).code(), StatusCode::kDeadlineExceeded);
  EXPECT_EQ(client.submission.help(within(std::chrono::milliseconds(-1))).code(), StatusCode::kOk)
      << "nothing is left to begin";
  hold->let_go.count_down();
  client.expect_right();
}

}  // namespace
}  // namespace latebind::embedding
