// What the real CPU plugin makes of a run that it finds no memory for: its compiled model gives later runs that error,
// which nobody but the run itself may see.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "backends/openvino/backend.h"
#include "core/engine/engine.h"
#include "tests/openvino/small_ir.h"

namespace latebind::openvino {
namespace {

using core::ElementType;
using core::kDynamic;
using core::OutputTensor;
using core::Shape;
using core::StatusCode;
using core::TensorView;
using testing::Each;
using testing::HasSubstr;

// out = a * b, of [?,1] and [1,?]: the output is as large as the square of what is sent.
core::Model outer_product() {
  const Shape column{kDynamic, 1};
  const Shape row{1, kDynamic};
  const Shape square{kDynamic, kDynamic};
  std::string layers = test::parameter(0, "a", ElementType::kF32, column);
  layers += test::parameter(1, "b", ElementType::kF32, row);
  layers += fmt::format(
      "<layer id=\"2\" name=\"op\" type=\"Multiply\" version=\"opset1\"><data "
      "auto_broadcast=\"numpy\"/>{}<output><port "
      "id=\"2\" precision=\"FP32\" names=\"out\"><dim>-1</dim><dim>-1</dim></port></output></layer>",
      test::ports("input", 0, {column, row}, "FP32"));
  layers += test::result(3, ElementType::kF32, square);
  return test::ir_model("product", layers, test::edge(0, 0, 2, 0) + test::edge(1, 0, 2, 1) + test::edge(2, 2, 3, 0));
}

class RealSpoiledModelTest : public testing::TestWithParam<core::PerformanceHint> {
 protected:
  void SetUp() override {
    core::LoadOptions options;
    options.compile.hint = GetParam();
    ASSERT_TRUE(registry_.add(make_backend()).ok());
    auto placed =
        core::Engine(registry_).load(outer_product(), *core::Placement::parse("openvino:CPU", registry_), options);
    ASSERT_TRUE(placed.ok()) << "run scripts/setup first: " << placed.status().to_string();
    placed_ = *std::move(placed);
  }

  core::Status run(std::int64_t n, OutputTensor& output) {
    std::vector<float> ones(static_cast<std::size_t>(n), 1);
    const std::vector inputs{TensorView{ones.data(), ElementType::kF32, {n, 1}, {}},
                             TensorView{ones.data(), ElementType::kF32, {1, n}, {}}};
    return placed_->execute(inputs, {&output, 1});
  }

  core::Registry registry_;
  std::shared_ptr<core::PlacedModel> placed_;
};

TEST_P(RealSpoiledModelTest, ARunThatLacksMemoryIsTheOnlyOneThatFails) {
  OutputTensor output;
  ASSERT_TRUE(run(4, output).ok());
  for (int i = 0; i < 3; ++i) {
    // More than there are addresses for.
    const auto status = run(std::int64_t{1} << 23, output);
    EXPECT_EQ(status.code(), StatusCode::kOutOfMemory) << status.to_string();
    EXPECT_THAT(status.to_string(), HasSubstr("Failed to allocate"));
    for (int k = 0; k < 8; ++k) {
      const auto small = run(4, output);
      ASSERT_TRUE(small.ok()) << small.to_string();
      ASSERT_EQ(output.view().shape, (Shape{4, 4}));
      const auto* first = static_cast<const float*>(output.view().data);
      EXPECT_THAT(std::vector<float>(first, first + 16), Each(1.0F));
    }
    EXPECT_FALSE(placed_->attestation()->fallback);
  }
}

INSTANTIATE_TEST_SUITE_P(Hints, RealSpoiledModelTest,
                         testing::Values(core::PerformanceHint::kLatency, core::PerformanceHint::kThroughput));

}  // namespace
}  // namespace latebind::openvino
