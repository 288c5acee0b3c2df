// Ranks, dynamic shapes, and that outputs come with their true shape.
#include <array>
#include <cstring>

#include "tests/conformance/conformance.h"

namespace latebind::test {
namespace {

TEST_P(ConformanceTest, RunsTensorsOfRanksZeroToEight) {
  const std::array<std::int64_t, core::kRankMax> sizes{2, 1, 3, 2, 1, 2, 3, 2};
  for (std::size_t rank = 0; rank <= core::kRankMax; ++rank) {
    SCOPED_TRACE("rank " + std::to_string(rank));
    const auto executable = load(doubling_model(OnnxDims(sizes.begin(), sizes.begin() + static_cast<long>(rank))));
    ASSERT_NE(executable, nullptr);
    ASSERT_EQ(executable->inputs()[0].shape.rank(), rank);
    EXPECT_TRUE(doubles(*executable, *Shape::make({sizes.data(), rank})));
  }
}

TEST_P(ConformanceTest, SaysWhatTheModelDeclares) {
  const auto executable = load(doubling_model({"n", 3}));
  ASSERT_NE(executable, nullptr);
  ASSERT_EQ(executable->inputs().size(), 1U);
  ASSERT_EQ(executable->outputs().size(), 1U);
  EXPECT_EQ(executable->inputs()[0].name, "x");
  EXPECT_EQ(executable->outputs()[0].name, "y");
  EXPECT_EQ(executable->inputs()[0].type, ElementType::kF32);
  EXPECT_EQ(executable->inputs()[0].shape, (Shape{core::kDynamic, 3}));
  EXPECT_EQ(executable->outputs()[0].shape, (Shape{core::kDynamic, 3}));
}

TEST_P(ConformanceTest, RunsEveryShapeThatADynamicModelAccepts) {
  const auto executable = load(doubling_model({"n", "m"}));
  ASSERT_NE(executable, nullptr);
  for (const Shape& shape : {Shape{4, 5}, Shape{1, 1}, Shape{7, 2}, Shape{4, 5}, Shape{1, 300}}) {
    EXPECT_TRUE(doubles(*executable, shape)) << shape.to_string();
  }
}

TEST_P(ConformanceTest, RunsUnnamedDynamicDimensions) {
  const auto executable = load(doubling_model({"", 2}));
  ASSERT_NE(executable, nullptr);
  EXPECT_TRUE(doubles(*executable, {3, 2}));
  EXPECT_TRUE(doubles(*executable, {1, 2}));
}

TEST_P(ConformanceTest, RunsTensorsWithoutElements) {
  const auto executable = load(doubling_model({"n", 3}));
  ASSERT_NE(executable, nullptr);
  EXPECT_TRUE(doubles(*executable, {0, 3}));
  EXPECT_TRUE(doubles(*executable, {2, 3}));
}

TEST_P(ConformanceTest, GivesDataDependentOutputsTheirTrueSize) {
  OnnxBuilder builder;
  builder.input("x", ElementType::kF32, {"n"}).output("y", ElementType::kI64, {1, "k"}).node("NonZero", {"x"}, {"y"});
  auto loaded = try_load(builder.model());
  if (refuses_operator(loaded.status(), "NonZero")) return;
  ASSERT_OK(loaded.status());
  const auto executable = *std::move(loaded);

  // The output object is kept, as a steady caller keeps it: no row of an earlier run may be left in it.
  OutputTensor output;
  const std::vector<std::pair<std::vector<float>, std::vector<std::int64_t>>> cases{
      {{1, 2, 0, 4, 5}, {0, 1, 3, 4}}, {{0, 0, 7, 0, 0}, {2}}, {{0, 0, 0}, {}}, {{3, 3, 3}, {0, 1, 2}}};
  for (const auto& [given, expected] : cases) {
    Tensor<float> input{Shape{static_cast<std::int64_t>(given.size())}, given};
    ASSERT_OK(run(*executable, input.view(ElementType::kF32), output));
    EXPECT_EQ(output.view().shape, (Shape{1, static_cast<std::int64_t>(expected.size())}));
    EXPECT_EQ(values_of<std::int64_t>(output), expected);
  }
}

TEST_P(ConformanceTest, TakesStaticShapesInsteadOfDynamicOnes) {
  core::CompileOptions options;
  options.input_shapes = {Shape{2, 3}};
  const auto executable = load(doubling_model({"n", "m"}), options);
  ASSERT_NE(executable, nullptr);
  EXPECT_EQ(executable->inputs()[0].shape, (Shape{2, 3}));
  EXPECT_EQ(executable->outputs()[0].shape, (Shape{2, 3}));
  EXPECT_TRUE(doubles(*executable, {2, 3}));
  EXPECT_FALSE(doubles(*executable, {3, 3}));
}

TEST_P(ConformanceTest, ChangesADeclaredSizeOrRefusesToByName) {
  core::CompileOptions options;
  options.input_shapes = {Shape{2, 4}};
  const auto loaded = try_load(doubling_model({"n", 3}).model(), options);
  if (loaded.ok()) {
    EXPECT_EQ((*loaded)->inputs()[0].shape, (Shape{2, 4}));
    EXPECT_TRUE(doubles(**loaded, {2, 4}));
  } else {
    EXPECT_EQ(loaded.status().code(), StatusCode::kShapeMismatch) << loaded.status().to_string();
    EXPECT_NE(loaded.status().to_string().find("'x'"), std::string::npos) << loaded.status().to_string();
  }
}

TEST_P(ConformanceTest, RefusesStaticShapesThatTheModelCannotHave) {
  const std::vector<float> weights(9, 1.0F);
  OnnxBuilder builder;
  builder.input("x", ElementType::kF32, {"n", 3})
      .output("y", ElementType::kF32, {"n", 3})
      .constant("w", ElementType::kF32, {3, 3}, std::span(weights))
      .node("MatMul", {"x", "w"}, {"y"});
  for (const std::vector<Shape>& shapes : {std::vector<Shape>{{2, 4}}, {{2, 3, 1}}, {{2, 3}, {1}}}) {
    core::CompileOptions options;
    options.input_shapes = shapes;
    EXPECT_FALSE(try_load(builder.model(), options).ok()) << shapes[0].to_string();
  }
}

TEST_P(ConformanceTest, ReadsInputsWithStrides) {
  const auto executable = load(doubling_model({"n", "m"}));
  ASSERT_NE(executable, nullptr);
  // A 2x3 view of the transposed 3x2 memory.
  auto input = counting({3, 2});
  TensorView view = input.view(ElementType::kF32);
  view.shape = Shape{2, 3};
  view.strides = {1, 2};
  OutputTensor output;
  ASSERT_OK(run(*executable, view, output));
  EXPECT_EQ(values_of<float>(output), (std::vector<float>{0, 4, 8, 2, 6, 10}));
}

TEST_P(ConformanceTest, RepeatsOneRowWithAStrideOfZero) {
  const auto executable = load(doubling_model({"n", "m"}));
  ASSERT_NE(executable, nullptr);
  auto input = counting({1, 3});
  TensorView view = input.view(ElementType::kF32);
  view.shape = Shape{2, 3};
  view.strides = {0, 1};
  OutputTensor output;
  ASSERT_OK(run(*executable, view, output));
  EXPECT_EQ(values_of<float>(output), (std::vector<float>{0, 2, 4, 0, 2, 4}));
}

TEST_P(ConformanceTest, WritesToTheCallersMemory) {
  for (const OnnxDims& dims : {OnnxDims{2, 3}, OnnxDims{"n", 3}}) {
    const auto executable = load(doubling_model(dims));
    ASSERT_NE(executable, nullptr);
    auto input = counting({2, 3});
    std::vector<float> memory(8, -1);
    auto output = OutputTensor::bound(memory.data(), 7 * sizeof(float));
    ASSERT_OK(run(*executable, input.view(ElementType::kF32), output));
    EXPECT_EQ(output.view().data, memory.data());
    EXPECT_EQ(output.view().shape, (Shape{2, 3}));
    EXPECT_EQ(memory, (std::vector<float>{0, 2, 4, 6, 8, 10, -1, -1}));
  }
}

TEST_P(ConformanceTest, RefusesMemoryThatIsTooSmallForTheOutput) {
  for (const OnnxDims& dims : {OnnxDims{2, 3}, OnnxDims{"n", 3}}) {
    const auto executable = load(doubling_model(dims));
    ASSERT_NE(executable, nullptr);
    auto input = counting({2, 3});
    std::vector<float> memory(6, -1);
    auto output = OutputTensor::bound(memory.data(), 5 * sizeof(float));
    const auto status = run(*executable, input.view(ElementType::kF32), output);
    EXPECT_EQ(status.code(), StatusCode::kBufferTooSmall) << status.to_string();
    EXPECT_NE(status.to_string().find("'y'"), std::string::npos) << status.to_string();
    EXPECT_EQ(memory[5], -1) << "written beyond the memory that was given";
    EXPECT_TRUE(doubles(*executable, {2, 3})) << "no longer usable";
  }
}

TEST_P(ConformanceTest, ReadsAndWritesMemoryAtOddAddresses) {
  for (const OnnxDims& dims : {OnnxDims{2, 3}, OnnxDims{"n", 3}}) {
    const auto executable = load(doubling_model(dims));
    ASSERT_NE(executable, nullptr);
    auto input = counting({2, 3});
    std::vector<std::byte> odd_input(6 * sizeof(float) + 1);
    std::vector<std::byte> odd_output(6 * sizeof(float) + 1);
    std::memcpy(odd_input.data() + 1, input.values.data(), 6 * sizeof(float));
    TensorView view = input.view(ElementType::kF32);
    view.data = odd_input.data() + 1;
    auto output = OutputTensor::bound(odd_output.data() + 1, 6 * sizeof(float));
    ASSERT_OK(run(*executable, view, output));
    std::vector<float> values(6);
    std::memcpy(values.data(), odd_output.data() + 1, 6 * sizeof(float));
    EXPECT_EQ(values, (std::vector<float>{0, 2, 4, 6, 8, 10}));
  }
}

TEST_P(ConformanceTest, GivesSeveralOutputsInTheModelsOrder) {
  OnnxBuilder builder;
  builder.input("a", ElementType::kF32, {"n"})
      .input("b", ElementType::kF32, {"n"})
      .output("difference", ElementType::kF32, {"n"})
      .output("sum", ElementType::kF32, {"n"})
      .node("Add", {"a", "b"}, {"sum"})
      .node("Sub", {"a", "b"}, {"difference"});
  const auto executable = load(builder);
  ASSERT_NE(executable, nullptr);
  ASSERT_EQ(executable->outputs().size(), 2U);
  EXPECT_EQ(executable->outputs()[0].name, "difference");
  EXPECT_EQ(executable->outputs()[1].name, "sum");
  Tensor<float> a{Shape{2}, {5, 7}};
  Tensor<float> b{Shape{2}, {1, 2}};
  const std::array<TensorView, 2> inputs{a.view(ElementType::kF32), b.view(ElementType::kF32)};
  std::array<OutputTensor, 2> outputs;
  ASSERT_OK(executable->execute(inputs, outputs, {}));
  EXPECT_EQ(values_of<float>(outputs[0]), (std::vector<float>{4, 5}));
  EXPECT_EQ(values_of<float>(outputs[1]), (std::vector<float>{6, 9}));
}

}  // namespace
}  // namespace latebind::test
