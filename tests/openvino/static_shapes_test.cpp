// Static shapes on an NPU that the fake library plays: which shape answers, which is compiled when, and what becomes of
// a request whose shape does not compile. As in machine.h, with a model of any number of rows of any length.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "tests/openvino/machine.h"

namespace latebind::openvino {
namespace {

using namespace std::chrono_literals;  // NOLINT: as in machine.h
using core::StatusCode;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr const char* kRowsPlusOne = "input x f32 ?,?\noutput y plus-one 0\n";

class StaticShapesTest : public test::MachineTest {
 protected:
  void SetUp() override {
    MachineTest::SetUp();
    options_.static_lengths.lengths = {2, 4, 8};
    options_.static_lengths.inputs = 1;
    options_.static_lengths.patience = 1h;
  }

  core::Status place_rows(const std::string& placement = "auto") { return place(placement, kRowsPlusOne); }

  // Asks for x + 1 of so many rows of this length, and checks what came back.
  Answer ask_rows(std::size_t rows, std::size_t length) {
    Answer answer;
    std::vector<float> x(rows * length);
    for (std::size_t i = 0; i < x.size(); ++i)
      x[i] = static_cast<float>(i) + 0.5F;
    const core::Shape shape{static_cast<std::int64_t>(rows), static_cast<std::int64_t>(length)};
    const auto input = test::floats(x, shape);
    core::OutputTensor output;
    answer.status = placed_->execute({&input, 1}, {&output, 1}, {}, &answer.by);
    if (!answer.status.ok()) return answer;
    // What came of padding stays at the end of each row: this model's output counts as one vector a row.
    const auto& given = output.view().shape;
    EXPECT_EQ(given.rank(), 2U);
    EXPECT_EQ(given[0], shape[0]);
    EXPECT_GE(given[1], shape[1]);
    const auto* y = static_cast<const float*>(output.view().data);
    for (std::size_t row = 0; row < rows; ++row)
      for (std::size_t i = 0; i < length; ++i)
        EXPECT_EQ(y[row * static_cast<std::size_t>(given[1]) + i], x[row * length + i] + 1);
    return answer;
  }
};

TEST_F(StaticShapesTest, AnNpuGetsThemAndTheOthersDoNot) {
  ASSERT_TRUE(place_rows().ok());
  const auto on_npu = ask_rows(3, 2);
  EXPECT_EQ(on_npu.device(), "NPU");
  EXPECT_THAT(on_npu.by->active.static_lengths, ElementsAre(2, 4, 8));
  EXPECT_EQ(on_npu.by->active.static_rows, 1U);
  EXPECT_EQ(runs_on("NPU"), 3) << "a row at a time";
  ASSERT_TRUE(place_rows("gpu").ok());
  const auto on_gpu = ask_rows(3, 2);
  EXPECT_EQ(on_gpu.device(), "GPU");
  EXPECT_THAT(on_gpu.by->active.static_lengths, ElementsAre());
  EXPECT_EQ(runs_on("GPU"), 1);
}

TEST_F(StaticShapesTest, EachLengthIsCompiledWhenItIsFirstNeeded) {
  ASSERT_TRUE(place_rows().ok());
  EXPECT_EQ(compiles_on("NPU"), 1);
  EXPECT_EQ(ask_rows(1, 1).device(), "NPU");
  EXPECT_EQ(compiles_on("NPU"), 1);
  EXPECT_EQ(ask_rows(1, 7).device(), "NPU");
  EXPECT_EQ(ask_rows(2, 8).device(), "NPU");
  EXPECT_EQ(compiles_on("NPU"), 2);
}

TEST_F(StaticShapesTest, ALengthThatDoesNotCompileIsDoneByALongerOne) {
  script("on NPU fail-compile-shape 1,4 -1 no tiling for this shape\n");
  ASSERT_TRUE(place_rows().ok());
  const auto answer = ask_rows(2, 3);
  EXPECT_EQ(answer.device(), "NPU");
  EXPECT_FALSE(answer.by->fallback);
}

TEST_F(StaticShapesTest, WhatNoLengthTakesGoesToTheNextDeviceAndTheRestStays) {
  script("on NPU fail-compile-shape 1,8 -1 no tiling for this shape\n");
  ASSERT_TRUE(place_rows().ok());
  const auto longest = ask_rows(1, 8);
  EXPECT_EQ(longest.device(), "GPU");
  EXPECT_TRUE(longest.by->fallback);
  EXPECT_THAT(longest.by->reason, AllOf(HasSubstr("NPU"), HasSubstr("no tiling for this shape")));
  // It is not blamed for that.
  const auto shorter = ask_rows(1, 4);
  EXPECT_EQ(shorter.device(), "NPU");
  EXPECT_FALSE(shorter.by->fallback);
  EXPECT_EQ(ask_rows(1, 8).device(), "GPU");
  EXPECT_EQ(ask_rows(1, 2).device(), "NPU");
}

TEST_F(StaticShapesTest, ALengthThatTakesTooLongToCompileIsAnsweredByTheNextDeviceUntilItIsThere) {
  options_.failover.load_timeout = 500ms;  // of the others, too, on a machine that is busy or emulated
  ASSERT_TRUE(place_rows().ok());
  script("on NPU slow ov_core_compile_model 2500\n");
  const auto other = ask_rows(1, 7);
  EXPECT_TRUE(other.status.ok()) << other.status.to_string();
  EXPECT_EQ(other.device(), "GPU");
  EXPECT_THAT(other.by->reason, HasSubstr("was not compiled within 500 ms"));
  EXPECT_EQ(ask_rows(1, 2).device(), "NPU") << "it is not to blame";
  while (ask_rows(1, 7).device() != "NPU")
    std::this_thread::yield();
}

TEST_F(StaticShapesTest, StrictSaysWhichLengthCannotBeCompiled) {
  script("on NPU fail-compile-shape 1,8 -1 no tiling for this shape\n");
  options_.strict = true;
  ASSERT_TRUE(place_rows("npu").ok());
  const auto longest = ask_rows(1, 8);
  EXPECT_EQ(longest.status.code(), StatusCode::kUnsupported);
  EXPECT_THAT(longest.status.to_string(), AllOf(HasSubstr("length 8"), HasSubstr("no tiling for this shape")));
  EXPECT_EQ(ask_rows(1, 4).device(), "NPU");
}

TEST_F(StaticShapesTest, ADeviceThatWasAwayWhileItShouldCompileIsAskedAgain) {
  options_.static_lengths.patience = 0ms;
  script("on NPU fail ov_core_compile_model 2 -1 the device is gone\n");
  ASSERT_TRUE(place_rows().ok());
  EXPECT_EQ(ask_rows(1, 8).device(), "GPU");
  EXPECT_EQ(ask_rows(1, 8).device(), "NPU") << "it is back";
}

TEST_F(StaticShapesTest, ARunThatFailsIsAnsweredByTheNextDeviceAndTheNpuComesBack) {
  script("on NPU fail run 2 -1 the driver died\n");
  probe_soon();
  ASSERT_TRUE(place_rows().ok());
  const auto answer = ask_rows(4, 2);  // the second of its four rows
  EXPECT_EQ(answer.device(), "GPU");
  EXPECT_THAT(answer.by->reason, HasSubstr("the driver died"));
  EXPECT_TRUE(eventually([&] { return placed_->attestation()->active.device == "NPU"; }));
  EXPECT_EQ(ask_rows(4, 2).device(), "NPU");
}

TEST_F(StaticShapesTest, AllOfThemCanBeMadeAhead) {
  ASSERT_TRUE(place_rows().ok());
  ASSERT_TRUE(placed_->prepare().ok());
  EXPECT_EQ(compiles_on("NPU"), 3);
}

}  // namespace
}  // namespace latebind::openvino
