// The primitives compute what the operators mean.
#include "core/graph/lowering.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "core/graph/token_packing.h"
#include "kit/networks/batches.h"
#include "kit/networks/random_encoder.h"
#include "kit/networks/small_encoder.h"
#include "kit/reference/evaluator.h"
#include "primitive_evaluator.h"

namespace latebind::graph {
namespace {

using core::ElementType;
using kit::SmallGraphOptions;

// With those that a network has whose tokens are packed: N is larger by `more`.
kit::Inputs packed(kit::Inputs inputs, std::int64_t more) {
  const kit::Array& mask = inputs.at("mask");
  const std::vector<std::int64_t> numbers(mask.values.begin(), mask.values.end());
  std::vector<std::int64_t> places(count_tokens(numbers) + static_cast<std::size_t>(more), -1);
  std::vector<std::int64_t> slots(numbers.size(), -1);
  pack_tokens(numbers, places, slots);
  const auto count = static_cast<std::int64_t>(places.size());
  const kit::Dims shape = mask.shape;
  inputs.emplace("token_places.mask", kit::Array{{count}, {places.begin(), places.end()}});
  inputs.emplace("token_slots.mask", kit::Array{shape, {slots.begin(), slots.end()}});
  return inputs;
}

// Of all numbers, or of those of tokens.
void expect_near(const kit::Array& values, const kit::Array& wanted, const kit::Array& mask, double tolerance) {
  ASSERT_EQ(values.shape, wanted.shape);
  const bool has_tokens = wanted.shape.size() == 3;
  const auto columns = static_cast<std::size_t>(wanted.shape.back());
  for (std::size_t i = 0; i < values.values.size(); ++i) {
    if (has_tokens && mask.values[i / columns] == 0) continue;
    ASSERT_NEAR(values.values[i], wanted.values[i], tolerance) << i;
  }
}

class LoweringTest : public ::testing::TestWithParam<SmallGraphOptions> {};

TEST_P(LoweringTest, ComputesWhatTheGraphMeans) {
  const auto graph = kit::small_graph(GetParam());
  ASSERT_TRUE(graph.ok()) << graph.status().to_string();
  const auto wanted = kit::evaluate(*graph, kit::small_batch());
  for (const bool transposes : {true, false}) {
    const PrimitiveNetwork network = lower(*graph, {.matmul_transposes = transposes});
    const auto values = testing::evaluate(network, *graph, kit::small_batch());
    ASSERT_EQ(values.shape, wanted.shape);
    for (std::size_t i = 0; i < values.values.size(); ++i)
      EXPECT_NEAR(values.values[i], wanted.values[i], 1e-7) << i;
    EXPECT_EQ(network.outputs.front().shape, graph->node(graph->output()).shape);
    EXPECT_EQ(network.outputs.front().name, graph->output_name());
    // ONNX has no MatMul that transposes.
    EXPECT_EQ(std::ranges::any_of(network.nodes,
                                  [](const PrimitiveNode& node) {
                                    const auto* matmul = std::get_if<primitive::MatMul>(&node.op);
                                    return matmul != nullptr && matmul->transpose_b;
                                  }),
              transposes);
  }
}

TEST_P(LoweringTest, PackedTokensComputeTheSame) {
  const auto graph = kit::small_graph(GetParam());
  ASSERT_TRUE(graph.ok()) << graph.status().to_string();
  ASSERT_EQ(can_pack(*graph), "mask");
  const auto inputs = kit::small_batch();
  const auto wanted = kit::evaluate(*graph, inputs);
  const PrimitiveNetwork network = lower(*graph, {.packs_tokens = true});
  for (const std::int64_t more : {0, 3})
    expect_near(testing::evaluate(network, *graph, packed(inputs, more)), wanted, inputs.at("mask"), 1e-7);
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
        SmallGraphOptions{.slopes = {0.5F, 0.25F}, .window = 2}, SmallGraphOptions{.soft_cap = 0.5F},
        SmallGraphOptions{.farthest = 3, .rotary = true, .soft_cap = 2.0F, .window = 1},
        SmallGraphOptions{.farthest = 3, .rotary = true, .window = 1}, SmallGraphOptions{.window = 2},
        SmallGraphOptions{.window = 0}, SmallGraphOptions{.gated = true}, SmallGraphOptions{.short_convolution = 1},
        SmallGraphOptions{.short_convolution = 3},
        SmallGraphOptions{.weights = ElementType::kF16, .biases = false, .short_convolution = 4},
        SmallGraphOptions{.chosen = 1}, SmallGraphOptions{.biases = false, .chosen = 2}, SmallGraphOptions{.chosen = 3},
        SmallGraphOptions{.activation = ActivationFunction::kSilu},
        SmallGraphOptions{.weights = ElementType::kF16, .biases = false},
        SmallGraphOptions{.weights = ElementType::kBF16, .farthest = 9}));

TEST(LoweringTest, AWeightOrAMaskThatIsUsedTwiceIsThereOnce) {
  const PrimitiveNetwork network = lower(*kit::small_graph({.weights = ElementType::kF16}), {});
  const auto count = [&](auto is) { return std::ranges::count_if(network.nodes, is); };
  EXPECT_EQ(count([](const PrimitiveNode& node) { return std::holds_alternative<Weight>(node.op); }), 15);
  // One for each weight, and one for the mask of attention and pooling.
  EXPECT_EQ(count([](const PrimitiveNode& node) { return std::holds_alternative<primitive::Convert>(node.op); }), 16);
}

TEST(LoweringTest, UnattendedTokensAttendAndAreNotAttendedTo) {
  std::mt19937 chance(3);
  for (const bool causal : {false, true}) {
    kit::EncoderShape shape{.hidden = 12, .layers = 2, .pooled = false, .window = 3};
    shape.causal = causal;
    shape.may_be_unattended = true;
    const auto graph = kit::encoder(shape);
    ASSERT_TRUE(graph.ok()) << graph.status().to_string();
    kit::Inputs inputs = kit::draw_batch(chance, {14, 3, 1, 9}, shape.vocabulary, 1);
    kit::leave_unattended(inputs, 10);
    const auto wanted = kit::evaluate(*graph, inputs);
    const auto values = testing::evaluate(lower(*graph, {}), *graph, inputs);
    ASSERT_EQ(values.shape, wanted.shape);
    const auto& mask = inputs.at("mask").values;
    for (std::size_t i = 0; i < values.values.size(); ++i) {
      if (mask[i / 12] == 0) continue;
      EXPECT_NEAR(values.values[i], wanted.values[i], 1e-7) << i;
    }
  }
}

TEST(LoweringTest, PackedTokensOfAnyEncoderComputeTheSame) {
  std::mt19937 chance(5);
  std::mt19937 latest(180);
  for (int i = 0; i < 200; ++i) {
    kit::EncoderShape shape = kit::draw_shape(chance);
    kit::draw_biases_and_experts(chance, shape);
    kit::draw_convolution_and_disentangled(latest, shape);
    shape.may_be_unattended = !shape.pooled && shape.short_convolution == 0 && i % 2 == 0;
    const auto graph = kit::encoder(shape);
    ASSERT_TRUE(graph.ok()) << graph.status().to_string();
    ASSERT_EQ(can_pack(*graph), "mask");
    kit::Inputs inputs = kit::draw_batch(chance, {7, 1, 12, 3}, shape.vocabulary, i % 3);
    if (shape.may_be_unattended) kit::leave_unattended(inputs, 2);
    const auto wanted = kit::evaluate(*graph, inputs);
    const PrimitiveNetwork network = lower(*graph, {.packs_tokens = true});
    expect_near(testing::evaluate(network, *graph, packed(inputs, i % 5)), wanted, inputs.at("mask"), 1e-6);
  }
}

TEST(LoweringTest, AnyEncoderComputesWhatItMeansForEveryFormat) {
  std::mt19937 chance(7);
  for (int i = 0; i < 200; ++i) {
    kit::EncoderShape shape = kit::draw_shape(chance);
    kit::draw_convolution_and_disentangled(chance, shape);
    shape.may_be_unattended = !shape.pooled && i % 2 == 0;
    const auto graph = kit::encoder(shape);
    ASSERT_TRUE(graph.ok()) << graph.status().to_string();
    kit::Inputs inputs = kit::draw_batch(chance, {7, 1, 12, 3}, shape.vocabulary, i % 3);
    if (shape.may_be_unattended) kit::leave_unattended(inputs, 2);
    const auto wanted = kit::evaluate(*graph, inputs);
    for (const bool transposes : {true, false}) {
      const PrimitiveNetwork network = lower(*graph, {.matmul_transposes = transposes});
      expect_near(testing::evaluate(network, *graph, inputs), wanted, inputs.at("mask"), 1e-6);
    }
  }
}

// What is computed of all tokens has no padding: only the mask and attention see it.
TEST(LoweringTest, LinearLayersHavePackedTokensAlone) {
  const auto graph = kit::encoder({.layers = 2});
  const PrimitiveNetwork network = lower(*graph, {.packs_tokens = true});
  std::vector<bool> is_packed;
  for (const PrimitiveNode& node : network.nodes) {
    const auto has = [&](Value value) { return static_cast<bool>(is_packed[value.node]); };
    bool packed = false;
    if (const auto* gather = std::get_if<primitive::Gather>(&node.op)) {
      const auto* indices = std::get_if<Input>(&network.node(gather->indices).op);
      packed = (indices != nullptr && indices->name == "token_places.mask") || has(gather->indices);
    } else if (const auto* binary = std::get_if<primitive::Binary>(&node.op)) {
      packed = has(binary->a) || has(binary->b);
    } else if (const auto* norm = std::get_if<primitive::LayerNorm>(&node.op)) {
      packed = has(norm->x);
      EXPECT_TRUE(packed);
    } else if (const auto* activation = std::get_if<Activation>(&node.op)) {
      packed = has(activation->x);
      EXPECT_TRUE(packed);
    } else if (const auto* matmul = std::get_if<primitive::MatMul>(&node.op)) {
      packed = has(matmul->a);
      EXPECT_EQ(packed, std::holds_alternative<Weight>(network.node(matmul->b).op));
    }
    is_packed.push_back(packed);
  }
}

TEST(LoweringTest, TokensAreNotPackedWhereThatSavesNothingOrCannotBe) {
  GraphBuilder builder{std::vector<core::FilePart>()};
  const core::Shape tokens{core::kDynamic, core::kDynamic};
  const Value mask = builder.add(Input{"mask", ElementType::kI64, tokens});
  const auto graph = std::move(builder).finish(mask, "mask");
  ASSERT_TRUE(graph.ok()) << graph.status().to_string();
  EXPECT_EQ(can_pack(*graph), std::nullopt);
}

TEST(LoweringTest, DistancesAreAddedToTheMaskOnceForAllLayers) {
  const PrimitiveNetwork network = lower(*kit::encoder({.layers = 3, .buckets = 8, .farthest = 5}), {});
  const auto is_positions = [](const PrimitiveNode& node) {
    return std::holds_alternative<primitive::Positions>(node.op);
  };
  EXPECT_EQ(std::ranges::count_if(network.nodes, is_positions), 1);
}

}  // namespace
}  // namespace latebind::graph
