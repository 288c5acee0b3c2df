// A run that takes too long is given up, and the executable goes on.
#include <atomic>
#include <chrono>
#include <thread>

#include "core/platform/environment.h"
#include "tests/conformance/conformance.h"

namespace latebind::test {
namespace {

using Clock = std::chrono::steady_clock;

// So many matrix products one after the other that a large input takes seconds and a small one no time.
OnnxBuilder slow_model() {
  OnnxBuilder builder;
  builder.input("x", ElementType::kF32, {"n", "n"}).output("y", ElementType::kF32, {"n", "n"});
  constexpr int kProducts = 400;
  std::string last = "x";
  for (int i = 0; i < kProducts; ++i) {
    const std::string next = i + 1 < kProducts ? "t" + std::to_string(i) : "y";
    builder.node("MatMul", {last, "x"}, {next});
    last = next;
  }
  return builder;
}

// The large input: takes seconds on the machine itself. In emulation a smaller one does, and this one minutes, for a
// vendor may look at a deadline only between two products.
Tensor<float> large_input() {
  const auto edge = std::stoll(platform::environment("LATEBIND_CONFORMANCE_EDGE").value_or("1024"));
  return {Shape{edge, edge}, std::vector<float>(static_cast<std::size_t>(edge * edge), 0.0F)};
}

core::RunOptions within(std::chrono::milliseconds time) {
  core::RunOptions options;
  options.deadline = Clock::now() + time;
  return options;
}

TEST_P(ConformanceTest, StopsARunAtItsDeadline) {
  core::CompileOptions compile;
  compile.requests = 1;
  const auto executable = load(slow_model(), compile);
  ASSERT_NE(executable, nullptr);
  auto large = large_input();
  Tensor<float> small{Shape{1, 1}, {1.0F}};
  for (int i = 0; i < 2; ++i) {
    OutputTensor output;
    const auto started = Clock::now();
    const auto status = run(*executable, large.view(ElementType::kF32), output, within(std::chrono::milliseconds(100)));
    EXPECT_EQ(status.code(), StatusCode::kDeadlineExceeded) << status.to_string();
    EXPECT_GE(Clock::now() - started, std::chrono::milliseconds(100));
    ASSERT_OK(run(*executable, small.view(ElementType::kF32), output));
    EXPECT_EQ(values_of<float>(output), (std::vector<float>{1}));
  }
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
    EXPECT_EQ(run(*executable, large.view(ElementType::kF32), output, within(std::chrono::milliseconds(500))).code(),
              StatusCode::kDeadlineExceeded);
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
