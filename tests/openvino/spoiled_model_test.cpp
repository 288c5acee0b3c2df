// A run that fails spoils a compiled model for all that come after it: it is loaded again, and nobody else
// notices. The real engine and the real backend on the fake library; tests/openvino/real/spoiled_model_test.cpp has the
// real one.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

#include "tests/openvino/machine.h"

namespace latebind::openvino {
namespace {

using core::StatusCode;
using testing::HasSubstr;

constexpr const char* kAnyLength = "input x f32 ?\noutput y plus-one 0\n";
constexpr const char* kNoMemoryForNine = "spoil-shape 9 -1 Failed to allocate 640000000000 bytes of memory\n";

class SpoiledModelTest : public test::MachineTest {
 protected:
  void SetUp() override {
    MachineTest::SetUp();
    options_.compile.requests = 2;
  }

  // The run that finds no memory.
  core::Status ask_for_too_much() {
    std::vector<float> x(9);
    const auto input = test::floats(x, {9});
    core::OutputTensor output;
    return placed_->execute({&input, 1}, {&output, 1}, {}, nullptr);
  }
};

TEST_F(SpoiledModelTest, ARunThatLacksMemoryIsTheOnlyOneThatFails) {
  script(kNoMemoryForNine);
  ASSERT_TRUE(place("cpu", kAnyLength).ok());
  ASSERT_TRUE(ask().status.ok());
  for (int i = 1; i <= 3; ++i) {
    const auto status = ask_for_too_much();
    EXPECT_EQ(status.code(), StatusCode::kOutOfMemory);
    EXPECT_THAT(status.to_string(), HasSubstr("Failed to allocate 640000000000 bytes"));
    EXPECT_EQ(compiles_on("CPU"), 1 + i) << "once for each";
    EXPECT_FALSE(placed_->attestation()->fallback);
    for (int k = 0; k < 3; ++k) {
      const auto answer = ask(k);
      EXPECT_TRUE(answer.status.ok()) << answer.status.to_string();
    }
  }
}

TEST_F(SpoiledModelTest, ARunThatWasUnderWayMeanwhileIsRepeated) {
  options_.compile.hint = core::PerformanceHint::kThroughput;  // with one stream, runs are one by one
  options_.compile.threads = 2;
  script(std::string(kNoMemoryForNine) + "on CPU hang 2\n");
  ASSERT_TRUE(place("cpu", kAnyLength).ok());
  ASSERT_TRUE(ask().status.ok());
  Answer answer;
  std::thread other([&] { answer = ask(5); });
  EXPECT_TRUE(eventually([&] { return runs_on("CPU") == 2; }));
  EXPECT_EQ(ask_for_too_much().code(), StatusCode::kOutOfMemory);
  script(kNoMemoryForNine);
  other.join();
  EXPECT_TRUE(answer.status.ok()) << answer.status.to_string();
  EXPECT_EQ(compiles_on("CPU"), 2);
}

TEST_F(SpoiledModelTest, ARunThatWaitedForARequestMeanwhileIsNotLost) {
  options_.compile.requests = 1;
  script(std::string(kNoMemoryForNine) + "on CPU hang 2\n");
  ASSERT_TRUE(place("cpu", kAnyLength).ok());
  ASSERT_TRUE(ask().status.ok());
  core::Status too_much;
  std::thread first([&] { too_much = ask_for_too_much(); });
  EXPECT_TRUE(eventually([&] { return runs_on("CPU") == 2; }));
  Answer answer;
  std::thread second([&] { answer = ask(5); });
  script(kNoMemoryForNine);
  first.join();
  second.join();
  EXPECT_EQ(too_much.code(), StatusCode::kOutOfMemory);
  EXPECT_TRUE(answer.status.ok()) << answer.status.to_string();
}

TEST_F(SpoiledModelTest, ADeviceThatFailsOnTheModelLoadedAgainRests) {
  ASSERT_TRUE(place("cpu", kAnyLength).ok());
  ASSERT_TRUE(ask().status.ok());
  script(std::string(kNoMemoryForNine) + "spoil-shape 4 -1 Failed to allocate 16 bytes of memory\n");
  EXPECT_EQ(ask_for_too_much().code(), StatusCode::kOutOfMemory);
  EXPECT_EQ(compiles_on("CPU"), 2);
  EXPECT_TRUE(placed_->attestation()->fallback);
}

TEST_F(SpoiledModelTest, AModelThatCannotBeLoadedAgainLeavesItsDeviceToRest) {
  probe_soon();
  script(std::string(kNoMemoryForNine) + "on CPU fail ov_core_compile_model 2 -1 Failed to allocate some memory\n");
  ASSERT_TRUE(place("cpu", kAnyLength).ok());
  ASSERT_TRUE(ask().status.ok());
  EXPECT_EQ(ask_for_too_much().code(), StatusCode::kOutOfMemory);
  EXPECT_TRUE(eventually([&] { return ask().status.ok(); }));
}

TEST_F(SpoiledModelTest, ARunWhoseShapesDoNotGoTogetherSpoilsItAsWell) {
  script("fail-shape 9 -1 the shapes do not go together\n");
  ASSERT_TRUE(place("cpu", kAnyLength).ok());
  ASSERT_TRUE(ask().status.ok());
  EXPECT_EQ(ask_for_too_much().code(), StatusCode::kInvalidArgument);
  EXPECT_TRUE(ask().status.ok());
  EXPECT_EQ(compiles_on("CPU"), 2);
}

TEST_F(SpoiledModelTest, StaticShapesAreNotSpoiled) {
  ASSERT_TRUE(place("cpu").ok());
  ASSERT_TRUE(ask().status.ok());
  script("fail-shape 4 -1 Failed to allocate 16 bytes of memory\n");
  EXPECT_EQ(ask().status.code(), StatusCode::kOutOfMemory);
  EXPECT_EQ(compiles_on("CPU"), 1);
}

}  // namespace
}  // namespace latebind::openvino
