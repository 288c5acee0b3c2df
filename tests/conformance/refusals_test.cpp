// What is wrong with a call is said by the tensor's name, and harms nothing.
#include <array>
#include <filesystem>

#include "tests/conformance/conformance.h"

namespace latebind::test {
namespace {

OnnxBuilder two_input_model() {
  OnnxBuilder builder;
  builder.input("left", ElementType::kF32, {"n", 3})
      .input("right", ElementType::kF32, {"n", 3})
      .output("sum", ElementType::kF32, {"n", 3})
      .node("Add", {"left", "right"}, {"sum"});
  return builder;
}

TEST_P(ConformanceTest, RefusesAWrongNumberOfInputsByName) {
  const auto executable = load(two_input_model());
  ASSERT_NE(executable, nullptr);
  auto input = counting({2, 3});
  const std::array one{input.view(ElementType::kF32)};
  std::array<OutputTensor, 1> outputs;
  expect_words(executable->execute(one, outputs, {}), StatusCode::kCountMismatch, {"left", "right", "2", "1"});
  expect_words(executable->execute({}, outputs, {}), StatusCode::kCountMismatch, {"0"});
}

TEST_P(ConformanceTest, RefusesAWrongNumberOfOutputs) {
  const auto executable = load(two_input_model());
  ASSERT_NE(executable, nullptr);
  auto input = counting({2, 3});
  const std::array inputs{input.view(ElementType::kF32), input.view(ElementType::kF32)};
  std::array<OutputTensor, 2> two;
  expect_words(executable->execute(inputs, two, {}), StatusCode::kCountMismatch, {"1", "2"});
  expect_words(executable->execute(inputs, {}, {}), StatusCode::kCountMismatch, {"1", "0"});
}

TEST_P(ConformanceTest, RefusesAWrongTypeByName) {
  const auto executable = load(two_input_model());
  ASSERT_NE(executable, nullptr);
  auto input = counting({2, 3});
  const std::array inputs{input.view(ElementType::kF32), input.view(ElementType::kI32)};
  std::array<OutputTensor, 1> outputs;
  expect_words(executable->execute(inputs, outputs, {}), StatusCode::kTypeMismatch, {"'right'", "f32", "i32"});
}

TEST_P(ConformanceTest, RefusesAWrongShapeByName) {
  const auto executable = load(two_input_model());
  ASSERT_NE(executable, nullptr);
  auto good = counting({2, 3});
  std::array<OutputTensor, 1> outputs;
  for (const Shape& shape : {Shape{2, 4}, Shape{6}, Shape{1, 2, 3}, Shape{}}) {
    auto bad = counting(shape);
    const std::array inputs{good.view(ElementType::kF32), bad.view(ElementType::kF32)};
    expect_words(executable->execute(inputs, outputs, {}), StatusCode::kShapeMismatch,
                 {"'right'", "[?,3]", shape.to_string()});
  }
}

TEST_P(ConformanceTest, RefusesAnInputWithoutData) {
  const auto executable = load(doubling_model({2}));
  ASSERT_NE(executable, nullptr);
  TensorView view;
  view.shape = Shape{2};
  OutputTensor output;
  expect_words(run(*executable, view, output), StatusCode::kInvalidArgument, {"'x'"});
}

TEST_P(ConformanceTest, StaysUsableAfterARefusal) {
  core::CompileOptions options;
  options.requests = 1;
  const auto executable = load(doubling_model({"n", 3}), options);
  ASSERT_NE(executable, nullptr);
  auto bad = counting({2, 4});
  OutputTensor output;
  for (int i = 0; i < 20; ++i)
    EXPECT_FALSE(run(*executable, bad.view(ElementType::kF32), output).ok());
  EXPECT_TRUE(doubles(*executable, {2, 3}));
}

// Shapes that only the vendor finds wrong, while it runs.
TEST_P(ConformanceTest, StaysUsableAfterTheVendorsOwnError) {
  OnnxBuilder builder;
  builder.input("x", ElementType::kF32, {"n"})
      .input("shape", ElementType::kI64, {2})
      .output("y", ElementType::kF32, {"a", "b"})
      .node("Reshape", {"x", "shape"}, {"y"});
  core::CompileOptions options;
  options.requests = 1;
  auto executable = load(builder, options);
  ASSERT_NE(executable, nullptr);
  auto x = counting({6});
  Tensor<std::int64_t> wrong{Shape{2}, {4, 2}};
  Tensor<std::int64_t> right{Shape{2}, {3, 2}};
  for (int i = 0; i < 10; ++i) {
    std::array<OutputTensor, 1> outputs;
    const std::array bad{x.view(ElementType::kF32), wrong.view(ElementType::kI64)};
    const auto status = executable->execute(bad, outputs, {});
    ASSERT_FALSE(status.ok());
    EXPECT_NE(status.vendor_text(), "") << status.to_string();
    // What the vendor keeps of a run that failed would go into the next one.
    if (executable->spoiled_by() > 0) executable = load(builder, options);
    ASSERT_NE(executable, nullptr);
    const std::array good{x.view(ElementType::kF32), right.view(ElementType::kI64)};
    ASSERT_OK(executable->execute(good, outputs, {}));
    EXPECT_EQ(outputs[0].view().shape, (Shape{3, 2}));
    EXPECT_EQ(values_of<float>(outputs[0]), x.values);
  }
}

TEST_P(ConformanceTest, RefusesAnUnknownDeviceByName) {
  const auto refused = backend_->load(doubling_model({2}).model(), "TOASTER.7", {});
  expect_words(refused.status(), StatusCode::kDeviceNotFound, {"TOASTER.7"});
}

TEST_P(ConformanceTest, HonoursAPrecisionOrRefusesItByName) {
  for (const auto precision : {core::Precision::kF32, core::Precision::kBF16, core::Precision::kF16}) {
    core::CompileOptions options;
    options.precision = precision;
    const auto loaded = try_load(doubling_model({2}).model(), options);
    if (loaded.ok()) {
      EXPECT_EQ((*loaded)->active().precision, precision);
    } else {
      EXPECT_NE(precision, core::Precision::kF32);
      expect_words(loaded.status(), StatusCode::kUnsupported, {std::string(core::word_of(precision))});
    }
  }
}

TEST_P(ConformanceTest, SaysWhoAnswers) {
  core::CompileOptions options;
  options.requests = 3;
  const auto executable = load(doubling_model({2}), options);
  ASSERT_NE(executable, nullptr);
  const auto& active = executable->active();
  expect_to_name_the_device(active, 3);
  EXPECT_TRUE(std::filesystem::path(active.library_file).is_absolute()) << active.library_file;
}

}  // namespace
}  // namespace latebind::test
