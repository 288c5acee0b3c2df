// The primitives compute what the operators mean.
#include "core/graph/lowering.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "evaluator.h"
#include "primitive_evaluator.h"
#include "random_encoder.h"
#include "small_graph.h"

namespace latebind::graph {
namespace {

using core::ElementType;
using testing::SmallGraphOptions;

class LoweringTest : public ::testing::TestWithParam<SmallGraphOptions> {};

TEST_P(LoweringTest, ComputesWhatTheGraphMeans) {
  const auto graph = testing::small_graph(GetParam());
  ASSERT_TRUE(graph.ok()) << graph.status().to_string();
  const auto wanted = testing::evaluate(*graph, testing::small_batch());
  for (const bool transposes : {true, false}) {
    const PrimitiveNetwork network = lower(*graph, {.matmul_transposes = transposes});
    const auto values = testing::evaluate(network, *graph, testing::small_batch());
    ASSERT_EQ(values.shape, wanted.shape);
    for (std::size_t i = 0; i < values.values.size(); ++i)
      EXPECT_NEAR(values.values[i], wanted.values[i], 1e-7) << i;
    EXPECT_EQ(network.output_shape, graph->node(graph->output()).shape);
    EXPECT_EQ(network.output_name, graph->output_name());
    // ONNX has no MatMul that transposes.
    EXPECT_EQ(std::ranges::any_of(network.nodes,
                                  [](const PrimitiveNode& node) {
                                    const auto* matmul = std::get_if<primitive::MatMul>(&node.op);
                                    return matmul != nullptr && matmul->transpose_b;
                                  }),
              transposes);
  }
}

INSTANTIATE_TEST_SUITE_P(
    EveryOption, LoweringTest,
    ::testing::Values(
        SmallGraphOptions{}, SmallGraphOptions{.weights = ElementType::kF16},
        SmallGraphOptions{.weights = ElementType::kBF16},
        SmallGraphOptions{.activation = ActivationFunction::kGeluTanh},
        SmallGraphOptions{.activation = ActivationFunction::kRelu}, SmallGraphOptions{.pooling = PoolingMode::kCls},
        SmallGraphOptions{.pooling = PoolingMode::kMax}, SmallGraphOptions{.pooling = PoolingMode::kLastToken},
        SmallGraphOptions{.pooling = PoolingMode::kMeanSqrt}, SmallGraphOptions{.pooling = PoolingMode::kWeightedMean},
        SmallGraphOptions{.activation = ActivationFunction::kTanh}, SmallGraphOptions{.pooled = false},
        SmallGraphOptions{.padding = 5}, SmallGraphOptions{.weights = ElementType::kF16, .padding = 0},
        SmallGraphOptions{.farthest = 3}, SmallGraphOptions{.rotary = true}, SmallGraphOptions{.slopes = {0.5F, 0.25F}},
        SmallGraphOptions{.rotary = true, .rotary_factor = 1.5F},
        SmallGraphOptions{.slopes = {0.5F, 0.25F}, .window = 2},
        SmallGraphOptions{.farthest = 3, .rotary = true, .window = 1}, SmallGraphOptions{.window = 2},
        SmallGraphOptions{.window = 0}, SmallGraphOptions{.gated = true},
        SmallGraphOptions{.activation = ActivationFunction::kSilu},
        SmallGraphOptions{.weights = ElementType::kF16, .biases = false},
        SmallGraphOptions{.weights = ElementType::kBF16, .farthest = 9}));

TEST(LoweringTest, AWeightOrAMaskThatIsUsedTwiceIsThereOnce) {
  const PrimitiveNetwork network = lower(*testing::small_graph({.weights = ElementType::kF16}), {});
  const auto count = [&](auto is) { return std::ranges::count_if(network.nodes, is); };
  EXPECT_EQ(count([](const PrimitiveNode& node) { return std::holds_alternative<Weight>(node.op); }), 15);
  // One for each weight, and one for the mask of attention and pooling.
  EXPECT_EQ(count([](const PrimitiveNode& node) { return std::holds_alternative<primitive::Convert>(node.op); }), 16);
}

TEST(LoweringTest, UnattendedTokensAttendAndAreNotAttendedTo) {
  std::mt19937 chance(3);
  for (const bool causal : {false, true}) {
    testing::EncoderShape shape{.hidden = 12, .layers = 2, .pooled = false, .window = 3};
    shape.causal = causal;
    shape.may_be_unattended = true;
    const auto graph = testing::encoder(shape);
    ASSERT_TRUE(graph.ok()) << graph.status().to_string();
    testing::Inputs inputs = testing::draw_batch(chance, {14, 3, 1, 9}, shape.vocabulary, 1);
    testing::leave_unattended(inputs, 10);
    const auto wanted = testing::evaluate(*graph, inputs);
    const auto values = testing::evaluate(lower(*graph, {}), *graph, inputs);
    ASSERT_EQ(values.shape, wanted.shape);
    const auto& mask = inputs.at("mask").values;
    for (std::size_t i = 0; i < values.values.size(); ++i) {
      if (mask[i / 12] == 0) continue;
      EXPECT_NEAR(values.values[i], wanted.values[i], 1e-7) << i;
    }
  }
}

TEST(LoweringTest, DistancesAreAddedToTheMaskOnceForAllLayers) {
  const PrimitiveNetwork network = lower(*testing::encoder({.layers = 3, .buckets = 8, .farthest = 5}), {});
  const auto is_positions = [](const PrimitiveNode& node) {
    return std::holds_alternative<primitive::Positions>(node.op);
  };
  EXPECT_EQ(std::ranges::count_if(network.nodes, is_positions), 1);
}

}  // namespace
}  // namespace latebind::graph
