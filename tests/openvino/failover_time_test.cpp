// Devices that hang or are slow, callers with deadlines, and what remains of either at the end.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>
#include <vector>

#include "tests/openvino/machine.h"
#include "tests/support/latch.h"

namespace latebind::openvino {
namespace {

using namespace std::chrono_literals;  // NOLINT: as in machine.h
using core::StatusCode;
using std::chrono::steady_clock;
using test::given_up_calls;
using test::hung_calls;
using testing::AllOf;
using testing::HasSubstr;

class FailoverTimeTest : public test::MachineTest {
 protected:
  // Longer than the sanitizers make any honest run on a busy machine.
  void SetUp() override {
    MachineTest::SetUp();
    options_.failover.run_timeout = 500ms;
    options_.failover.answer_timeout = 500ms;
  }
};

TEST_F(FailoverTimeTest, ARunThatHangsIsBoundedAndTheRequestGoesOn) {
  script("on NPU hang-cancellable\n");
  ASSERT_TRUE(place().ok());
  const auto start = steady_clock::now();
  const auto answer = ask();
  EXPECT_GE(steady_clock::now() - start, 500ms);
  EXPECT_LT(steady_clock::now() - start, 30s);
  EXPECT_EQ(answer.device(), "GPU");
  EXPECT_THAT(answer.by->reason, AllOf(HasSubstr("NPU"), HasSubstr("hung")));
  EXPECT_TRUE(eventually([] { return given_up_calls() == 0; })) << "it obeyed";
  EXPECT_EQ(ask().device(), "GPU");
  EXPECT_EQ(runs_on("NPU"), 2) << "a request, and a question whether it hangs";
}

TEST_F(FailoverTimeTest, ARunThatNeverComesBackIsPutAsideAndCounted) {
  script("on NPU hang 1\n");
  ASSERT_TRUE(place().ok());
  EXPECT_EQ(ask().device(), "GPU");
  EXPECT_EQ(hung_calls(), 1U);
  EXPECT_EQ(placed_->hung_runs(), 1U);
  // Nobody waits for it at the end either.
  const auto start = steady_clock::now();
  placed_.reset();
  EXPECT_LT(steady_clock::now() - start, 10s);
  EXPECT_EQ(hung_calls(), 1U);
  EXPECT_EQ(hung_calls("openvino:NPU"), 1U);
  EXPECT_EQ(hung_calls("openvino:GPU"), 0U);
  script();
  EXPECT_TRUE(eventually([] { return given_up_calls() == 0; }));
}

TEST_F(FailoverTimeTest, ADeviceThatHangsForEverCostsABoundedNumberOfRequests) {
  options_.failover.run_timeout = 250ms;  // a busy machine may keep a healthy run waiting for 50
  probe_soon();
  script("on NPU hang\n");
  ASSERT_TRUE(place("npu,gpu").ok());
  EXPECT_EQ(ask().device(), "GPU");
  // Probes hang one by one, until the device has so many runs that it gets neither a run nor a model any more.
  ASSERT_TRUE(eventually([&] {
    const auto now = ask();
    return now.by && now.by->reason.find("have not returned") != std::string::npos;
  }));
  EXPECT_LE(given_up_calls(), 2 * core::kHungCallsMax);
  const long runs = runs_on("NPU");
  const long compiles = compiles_on("NPU");
  for (int i = 0; i < 20; ++i)
    EXPECT_EQ(ask(i).device(), "GPU");
  EXPECT_LE(runs_on("NPU") - runs, 8);
  EXPECT_LE(compiles_on("NPU") - compiles, 1);
  script();
  EXPECT_TRUE(eventually([&] { return ask().device() == "NPU"; }));
  EXPECT_TRUE(eventually([] { return given_up_calls() == 0; }));
}

TEST_F(FailoverTimeTest, DestructionDoesNotWaitForAProbeThatHangs) {
  probe_soon();
  options_.failover.run_timeout = 1h;
  script("on NPU fail run 1 -1 the driver died\non NPU hang 2-\n");
  ASSERT_TRUE(place().ok());
  EXPECT_EQ(ask().device(), "GPU");
  ASSERT_TRUE(eventually([&] { return runs_on("NPU") >= 2; }));
  const auto start = steady_clock::now();
  placed_.reset();
  EXPECT_LT(steady_clock::now() - start, 30s);
}

TEST_F(FailoverTimeTest, ASlowDeviceWithinItsTimeIsNotAFailedOne) {
  options_.failover.run_timeout = 1h;
  script("on NPU slow run 30\n");
  ASSERT_TRUE(place().ok());
  const auto answer = ask(1, within(1h));
  EXPECT_EQ(answer.device(), "NPU");
  EXPECT_FALSE(answer.by->fallback);
  EXPECT_EQ(runs_on("GPU"), 0);
}

TEST_F(FailoverTimeTest, TheCallersDeadlineIsNotTheDevicesFault) {
  options_.failover.run_timeout = 1h;
  script("on NPU hang-cancellable 1\n");
  ASSERT_TRUE(place().ok());
  do {  // a busy machine may give one up before it begins
    EXPECT_EQ(ask(1, within(10ms)).status.code(), StatusCode::kDeadlineExceeded);
  } while (fake_.calls("run") == 0);
  const auto answer = ask();
  EXPECT_EQ(answer.device(), "NPU");
  EXPECT_FALSE(answer.by->fallback);
}

TEST_F(FailoverTimeTest, ADeviceThatAnswersNobodyInTimeIsSuspected) {
  options_.failover.run_timeout = 1h;
  script("on NPU hang-cancellable\n");
  ASSERT_TRUE(place().ok());
  // Who is impatient tells nothing, however often.
  for (int i = 0; i < 5; ++i)
    EXPECT_EQ(ask(i, within(1ms)).status.code(), StatusCode::kDeadlineExceeded);
  EXPECT_FALSE(placed_->attestation()->fallback);
  for (int i = 0; i < 3; ++i)
    EXPECT_EQ(ask(i, within(1100ms)).status.code(), StatusCode::kDeadlineExceeded);
  // It is asked in the background, and does not answer that either.
  ASSERT_TRUE(eventually([&] { return placed_->attestation()->fallback; }));
  const auto answer = ask(4, within(1h));
  EXPECT_EQ(answer.device(), "GPU");
  EXPECT_THAT(answer.by->reason, AllOf(HasSubstr("NPU"), HasSubstr("hang")));
}

TEST_F(FailoverTimeTest, WaitingForARequestUntilTheCallersDeadlineIsBusyAndNothingElse) {
  options_.failover.run_timeout = 1h;
  options_.compile.requests = 1;
  script("on NPU hang 1\n");
  ASSERT_TRUE(place().ok());
  std::thread holder([&] { EXPECT_EQ(ask(1).device(), "NPU"); });
  EXPECT_TRUE(eventually([&] { return runs_on("NPU") == 1; }));
  EXPECT_EQ(ask(2, within(20ms)).status.code(), StatusCode::kBusy);
  script();
  holder.join();
  EXPECT_EQ(ask(3).device(), "NPU");
  EXPECT_EQ(compiles_on("GPU"), 0);
}

TEST_F(FailoverTimeTest, WhoWaitedBehindRunsThatHangIsAnsweredByTheNextDevice) {
  options_.compile.requests = 1;
  script("on NPU hang-cancellable\n");
  ASSERT_TRUE(place().ok());
  constexpr int kCallers = 4;
  latebind::test::Latch start(kCallers);
  std::vector<std::thread> threads;
  for (int i = 0; i < kCallers; ++i) {
    threads.emplace_back([&, i] {
      start.arrive_and_wait();
      const auto answer = ask(i);
      EXPECT_EQ(answer.device(), "GPU");
    });
  }
  for (auto& thread : threads)
    thread.join();
}

TEST_F(FailoverTimeTest, AModelWhoseRequestsAreAllBusyHoldsUpNoOther) {
  options_.failover.run_timeout = 1h;
  options_.compile.requests = 1;
  script("on NPU hang 1\n");
  ASSERT_TRUE(place().ok());
  const auto stuck = placed_;
  std::thread holder([&] { EXPECT_EQ(ask(1).device(), "NPU"); });
  EXPECT_TRUE(eventually([&] { return runs_on("NPU") == 1; }));
  std::thread waiter([&] {
    auto x = test::numbers_from(1);
    const core::TensorView input{x.data(), core::ElementType::kF32, {4}, {}};
    core::OutputTensor output;
    EXPECT_TRUE(stuck->execute({&input, 1}, {&output, 1}).ok());
  });
  ASSERT_TRUE(place().ok());
  EXPECT_EQ(ask(2).device(), "NPU");
  script();
  holder.join();
  waiter.join();
}

TEST_F(FailoverTimeTest, AStandbyThatTakesLongToLoadKeepsNobodyBeyondTheDeadline) {
  options_.failover.run_timeout = 1h;
  script("on NPU fail run * -1 the driver died\non GPU slow ov_core_compile_model 400\n");
  ASSERT_TRUE(place().ok());
  const auto answer = ask(1, within(20ms));
  EXPECT_EQ(answer.status.code(), StatusCode::kDeadlineExceeded);
  EXPECT_THAT(answer.status.to_string(), HasSubstr("GPU"));
  // The loading went on, once for all who wait.
  EXPECT_EQ(ask(2, within(1h)).device(), "GPU");
  EXPECT_EQ(compiles_on("GPU"), 1);
}

TEST_F(FailoverTimeTest, AModelMayGoWhileItsStandbyLoads) {
  options_.failover.run_timeout = 1h;
  script("on NPU fail run * -1 the driver died\non GPU slow ov_core_compile_model 1500\n");
  ASSERT_TRUE(place().ok());
  // Long enough for the NPU to fail on a slow machine, and far from what the GPU takes.
  EXPECT_EQ(ask(1, within(300ms)).status.code(), StatusCode::kDeadlineExceeded);
  placed_.reset();
  EXPECT_TRUE(eventually([&] { return fake_.alive("compiled model") == 0 && compiles_on("GPU") == 1; }));
}

}  // namespace
}  // namespace latebind::openvino
