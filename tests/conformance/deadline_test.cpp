// A run that takes too long is given up, and the executable goes on.
#include <atomic>
#include <chrono>
#include <thread>

#include "tests/conformance/conformance.h"

namespace latebind::test {
namespace {

using Clock = std::chrono::steady_clock;

TEST_P(ConformanceTest, HoldsADeadlineAndServesOthersMeanwhile) {
  core::CompileOptions compile;
  compile.requests = 3;
  const auto executable = load(slow_model(), compile);
  ASSERT_NE(executable, nullptr);
  auto large = large_input();
  Tensor<float> small{Shape{1, 1}, {1.0F}};
  for (int i = 0; i < 2; ++i) {
    OutputTensor output;
    const auto started = Clock::now();
    const auto status = run(*executable, large.view(ElementType::kF32), output, within(std::chrono::milliseconds(20)));
    EXPECT_EQ(status.code(), StatusCode::kDeadlineExceeded) << status.to_string();
    EXPECT_GE(Clock::now() - started, std::chrono::milliseconds(20));
    EXPECT_LT(Clock::now() - started, std::chrono::seconds(2)) << "at once, whatever the vendor does";
    ASSERT_OK(run(*executable, small.view(ElementType::kF32), output));
    EXPECT_EQ(values_of<float>(output), (std::vector<float>{1}));
  }
}

TEST_P(ConformanceTest, ReturnsAtOnceWhenItIsCancelled) {
  core::CompileOptions compile;
  compile.requests = 2;
  const auto executable = load(slow_model(), compile);
  ASSERT_NE(executable, nullptr);
  core::RunOptions options;
  options.cancellation = core::Cancellation::create();
  std::thread running([&] {
    auto large = large_input();
    OutputTensor output;
    const auto status = run(*executable, large.view(ElementType::kF32), output, options);
    EXPECT_EQ(status.code(), StatusCode::kCancelled) << status.to_string();
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(50));  // some time into the run, or before it
  options.cancellation.request();
  running.join();
  Tensor<float> small{Shape{1, 1}, {1.0F}};
  OutputTensor output;
  EXPECT_EQ(run(*executable, small.view(ElementType::kF32), output, options).code(), StatusCode::kCancelled);
  EXPECT_OK(run(*executable, small.view(ElementType::kF32), output));
}

TEST_P(ConformanceTest, RefusesARunWhoseDeadlineHasPassed) {
  const auto executable = load(doubling_model({"n"}));
  ASSERT_NE(executable, nullptr);
  auto input = counting({3});
  OutputTensor output;
  const auto status = run(*executable, input.view(ElementType::kF32), output, within(std::chrono::milliseconds(-1)));
  EXPECT_EQ(status.code(), StatusCode::kDeadlineExceeded) << status.to_string();
  EXPECT_TRUE(doubles(*executable, {3}));
}

TEST_P(ConformanceTest, RunsWithinAGenerousDeadline) {
  const auto executable = load(doubling_model({"n"}));
  ASSERT_NE(executable, nullptr);
  auto input = counting({3});
  OutputTensor output;
  for (int i = 0; i < 10; ++i) {
    ASSERT_OK(run(*executable, input.view(ElementType::kF32), output, within(std::chrono::minutes(10))));
    EXPECT_EQ(values_of<float>(output), (std::vector<float>{0, 2, 4}));
  }
}

TEST_P(ConformanceTest, GivesUpWaitingForARequestAtTheDeadline) {
  core::CompileOptions compile;
  compile.requests = 1;
  const auto executable = load(slow_model(), compile);
  ASSERT_NE(executable, nullptr);
  std::atomic<bool> done{false};
  std::thread occupant([&] {
    auto large = large_input();
    OutputTensor output;
    EXPECT_OK(run(*executable, large.view(ElementType::kF32), output));
    done = true;
  });
  Tensor<float> small{Shape{1, 1}, {1.0F}};
  OutputTensor output;
  // Until the occupant has the request, runs succeed, or are too slow themselves on a busy machine.
  Status status;
  do {
    status = run(*executable, small.view(ElementType::kF32), output, within(std::chrono::milliseconds(20)));
  } while (status.code() != StatusCode::kBusy && !done);
  EXPECT_EQ(status.code(), StatusCode::kBusy) << status.to_string();
  occupant.join();
  EXPECT_OK(run(*executable, small.view(ElementType::kF32), output));
}

}  // namespace
}  // namespace latebind::test
