#include "core/graph/graph.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <optional>

#include "kit/networks/small_encoder.h"
#include "kit/reference/evaluator.h"

namespace latebind::graph {
namespace {

using core::ElementType;
using core::Shape;
using core::StatusCode;
using ::testing::HasSubstr;

constexpr std::int64_t kAny = core::kDynamic;

Weight f32(const char* name, const Shape& shape, std::uint64_t offset = 0) {
  return {.name = name, .type = ElementType::kF32, .shape = shape, .offset = offset};
}

// A builder with inputs of several kinds, on 64 bytes of weights.
struct Started {
  Started() : graph(part()) {}

  static core::FilePart part() {
    core::FilePart part;
    part.bytes = core::SharedBytes::from_string(std::string(64, '\0'));
    return part;
  }
  Value input(ElementType type, const Shape& shape) {
    return graph.add(Input{.name = "x", .type = type, .shape = shape});
  }
  // What finish() says of a graph with this operator at its end.
  std::string refusal(Operator op) {
    const Value output = graph.add(std::move(op));
    const auto made = std::move(graph).finish(output, "y");
    if (made.ok()) return "it was taken";
    EXPECT_EQ(made.status().code(), StatusCode::kInvalidModel);
    return made.status().to_string();
  }

  GraphBuilder graph;
  const Value ids = input(ElementType::kI64, {kAny, kAny});
  const Value mask = input(ElementType::kI64, {kAny, kAny});
  const Value states = input(ElementType::kF32, {kAny, kAny, 4});
  const Value vectors = input(ElementType::kF32, {kAny, 4});
};

TEST(GraphBuilderTest, KnowsTheShapeOfEveryValue) {
  const auto graph = kit::small_graph();
  ASSERT_TRUE(graph.ok()) << graph.status().to_string();
  EXPECT_EQ(graph->node(graph->output()).shape.to_string(), "[?,8]");
  EXPECT_EQ(kit::small_graph({.pooled = false})->node(Value{5}).shape.to_string(), "[?,8]");
  // The evaluator compares each value's shape with what the graph says of it.
  EXPECT_EQ(kit::evaluate(*graph, kit::small_batch()).shape, (kit::Dims{3, 8}));
}

TEST(GraphBuilderTest, RefusesOperandsThatDoNotFit) {
  const auto f32_4 = [] { return f32("w", Shape{4}); };
  EXPECT_THAT(Started().refusal(Lookup{f32("table", Shape{4, 4}), Value{2}}), HasSubstr("lookup of f32 [?,?,4]"));
  EXPECT_THAT(Started().refusal(Lookup{f32("table", Shape{4}), Value{0}}), HasSubstr("'table' is f32 [4]"));
  EXPECT_THAT(Started().refusal(PositionLookup{f32("table", Shape{4, 4}), Value{2}}), HasSubstr("position lookup of"));
  EXPECT_THAT(Started().refusal(RowLookup{f32("table", Shape{4, 4}), 4}), HasSubstr("row 4 of 'table', which has 4"));
  EXPECT_THAT(Started().refusal(RowLookup{f32("table", Shape{4, 4}), -1}), HasSubstr("row -1"));
  EXPECT_THAT(Started().refusal(Add{Value{3}, Value{2}}), HasSubstr("adding f32 [?,?,4] to f32 [?,4]"));
  EXPECT_THAT(Started().refusal(Add{Value{2}, Value{0}}), HasSubstr("add of i64"));
  EXPECT_THAT(Started().refusal(Linear{Value{2}, f32("w", Shape{2, 3}), f32("b", Shape{2})}),
              HasSubstr("'w' [2,3] for f32 [?,?,4]"));
  EXPECT_THAT(Started().refusal(Linear{Value{2}, f32("w", Shape{2, 4}), f32("b", Shape{4})}), HasSubstr("'b' [4]"));
  EXPECT_THAT(Started().refusal(LayerNorm{Value{2}, f32("w", Shape{3}), f32_4()}), HasSubstr("'w' [3]"));
  EXPECT_THAT(Started().refusal(Activation{Value{0}}), HasSubstr("activation of i64"));
  EXPECT_THAT(Started().refusal(Pool{Value{3}, Value{1}}), HasSubstr("pooling f32 [?,4]"));
  EXPECT_THAT(Started().refusal(Pool{Value{2}, Value{3}}), HasSubstr("pooling of f32"));
  EXPECT_EQ(Started().refusal(Normalize{Value{2}}), "it was taken");
  EXPECT_THAT(Started().refusal(Normalize{Value{0}}), HasSubstr("normalisation of i64"));
  EXPECT_THAT(Started().refusal(Normalize{Value{17}}), HasSubstr("of an unknown value"));
  EXPECT_EQ(Started().refusal(Normalize{Value{3}}), "it was taken");
}

TEST(GraphBuilderTest, RefusesColumnsAndConvolutionsThatDoNotFit) {
  const auto columns = [](std::int64_t width, std::int64_t first, std::int64_t count) {
    return Started().refusal(Columns{.x = Value{2}, .width = width, .first = first, .count = count});
  };
  EXPECT_EQ(columns(2, 1, 1), "it was taken");
  EXPECT_THAT(columns(3, 0, 1), HasSubstr("1 columns from 0 on of each 3 of f32 [?,?,4]"));
  EXPECT_THAT(columns(2, 1, 2), HasSubstr("2 columns from 1"));
  EXPECT_THAT(columns(2, 2, 1), HasSubstr("from 2"));
  EXPECT_THAT(columns(2, -1, 1), HasSubstr("from -1"));
  EXPECT_THAT(columns(0, 0, 1), HasSubstr("each 0"));
  EXPECT_THAT(columns(2, 0, 0), HasSubstr("0 columns"));
  const auto convolution = [](const Shape& weight, Value mask = Value{1}, Value x = Value{2}) {
    return Started().refusal(Convolution{.x = x, .mask = mask, .weight = f32("w", weight)});
  };
  EXPECT_EQ(convolution(Shape{1, 4, 3}), "it was taken");
  EXPECT_THAT(convolution(Shape{1, 4, 2}), HasSubstr("convolution of f32 [?,?,4] by 'w' [1,4,2]"));
  EXPECT_THAT(convolution(Shape{1, 3, 3}), HasSubstr("'w' [1,3,3]"));
  EXPECT_THAT(convolution(Shape{4, 4}), HasSubstr("'w' is f32 [4,4]"));
  EXPECT_THAT(convolution(Shape{1, 4, 3}, Value{3}), HasSubstr("convolution of f32 [?,4]"));
  EXPECT_THAT(convolution(Shape{1, 4, 3}, Value{1}, Value{3}), HasSubstr("convolution of f32 [?,4]"));
}

TEST(GraphBuilderTest, RefusesDisentangledAttentionThatDoesNotFit) {
  const auto with = [](std::int64_t span, std::optional<std::int64_t> farthest, const Shape& table,
                       std::int64_t heads = 2, bool has_keys = true) {
    Started started;
    const Value rows = started.graph.add(WholeTable{f32("table", table)});
    Attention op{.query = Value{2}, .key = Value{2}, .value = Value{2}, .mask = Value{1}, .heads = heads};
    op.disentangled = Disentangled{.span = span, .farthest = farthest};
    if (has_keys) op.disentangled->keys = rows;
    return started.refusal(op);
  };
  EXPECT_EQ(with(2, std::nullopt, Shape{4, 4}), "it was taken");
  EXPECT_THAT(with(3, std::nullopt, Shape{4, 4}), HasSubstr("of f32 [?,?,4] to f32 [4,4]"));
  EXPECT_THAT(with(0, std::nullopt, Shape{4, 4}), HasSubstr("over 0 positions"));
  EXPECT_THAT(with(2, 9, Shape{4, 4}), HasSubstr("over 2 positions up to 9"));
  EXPECT_THAT(with(2, std::nullopt, Shape{4, 4}, 2, false), HasSubstr("without a table"));
}

// Of the tables that published models have, as transformers computes them.
TEST(DisentangledTest, RowsAreThoseOfTheReference) {
  const Disentangled near{.span = 512};
  EXPECT_EQ(row_of(near, 0), 512);
  EXPECT_EQ(row_of(near, -511), 1);
  EXPECT_EQ(row_of(near, 700), 1023);
  EXPECT_EQ(row_of(near, -700), 0);
  EXPECT_EQ(farthest_of(near), 512);
  const Disentangled far{.span = 256, .farthest = 512};
  for (const std::int64_t sign : {1, -1}) {
    for (const auto& [distance, place] : {std::pair<std::int64_t, std::int64_t>{1, 1},
                                          {128, 128},
                                          {129, 129},
                                          {130, 130},
                                          {200, 169},
                                          {300, 207},
                                          {400, 233},
                                          {510, 255},
                                          {511, 255}}) {
      EXPECT_EQ(row_of(far, sign * distance), 256 + sign * place) << sign * distance;
    }
  }
  EXPECT_EQ(row_of(far, 513), 511);
  EXPECT_EQ(row_of(far, -513), 0);
}

TEST(GraphBuilderTest, RefusesToPoolWhatMayBeUnattended) {
  for (const bool may_be : {false, true}) {
    Started started;
    const Value attended = started.graph.add(Attention{.query = started.states,
                                                       .key = started.states,
                                                       .value = started.states,
                                                       .mask = started.mask,
                                                       .may_be_unattended = may_be});
    const std::string refusal = started.refusal(Pool{attended, started.mask});
    EXPECT_THAT(refusal, HasSubstr(may_be ? "pooling tokens that may be unattended" : "it was taken"));
  }
}

TEST(GraphBuilderTest, RefusesHeadsThatDoNotDivide) {
  const auto with = [](std::int64_t heads, Value key = Value{2}, Value mask = Value{1}) {
    return Started().refusal(
        Attention{.query = Value{2}, .key = key, .value = Value{2}, .mask = mask, .heads = heads, .scale = 1});
  };
  EXPECT_EQ(with(2), "it was taken");
  EXPECT_THAT(with(3), HasSubstr("attention with 3 heads of f32 [?,?,4]"));
  EXPECT_THAT(with(0), HasSubstr("0 heads"));
  EXPECT_THAT(with(2, Value{3}), HasSubstr("to f32 [?,4] with 2 heads"));
  EXPECT_THAT(with(2, Value{2}, Value{3}), HasSubstr("attention of f32 [?,4]"));
}

TEST(GraphBuilderTest, RefusesAttentionWhoseLargestProductIsNotTheLargestScore) {
  const auto with = [](float scale) {
    return Started().refusal(
        Attention{.query = Value{2}, .key = Value{2}, .value = Value{2}, .mask = Value{1}, .heads = 2, .scale = scale});
  };
  EXPECT_EQ(with(0.125F), "it was taken");
  EXPECT_THAT(with(0), HasSubstr("attention scaled by 0"));
  EXPECT_THAT(with(-1), HasSubstr("attention scaled by -1"));
  EXPECT_THAT(with(std::numeric_limits<float>::infinity()), HasSubstr("scaled by inf"));
  EXPECT_THAT(with(std::numeric_limits<float>::quiet_NaN()), HasSubstr("scaled by nan"));
}

TEST(GraphBuilderTest, RefusesKeysThatHeadsCannotShare) {
  // Of four columns, two of them a head.
  const auto with = [](std::int64_t key_heads, const Shape& weight) {
    Started started;
    const Value key = started.graph.add(Linear{.x = Value{2}, .weight = f32("key", weight)});
    return started.refusal(
        Attention{.query = Value{2}, .key = key, .value = key, .mask = Value{1}, .heads = 2, .key_heads = key_heads});
  };
  EXPECT_EQ(with(1, Shape{2, 4}), "it was taken");
  EXPECT_THAT(with(1, Shape{4, 4}), HasSubstr("attention of f32 [?,?,4] to f32 [?,?,4] with 2 heads"));
  EXPECT_THAT(with(3, Shape{4, 4}), HasSubstr("attention of 2 heads to 3"));
  EXPECT_THAT(with(0, Shape{4, 4}), HasSubstr("attention of 2 heads to 0"));
}

TEST(GraphBuilderTest, RefusesAnRmsNormOfPartsThatDoNotFit) {
  const auto with = [](const Shape& weight) {
    return Started().refusal(RmsNorm{.x = Value{2}, .weight = f32("norm", weight)});
  };
  EXPECT_EQ(with(Shape{4}), "it was taken");
  EXPECT_EQ(with(Shape{2}), "it was taken");
  EXPECT_THAT(with(Shape{3}), HasSubstr("'norm' [3] for f32 [?,?,4]"));
  EXPECT_THAT(with(Shape{0}), HasSubstr("'norm' [0]"));
}

TEST(GraphBuilderTest, RefusesPositionsWithoutARowBehindThePadding) {
  const auto with = [](std::int64_t padding) {
    return Started().refusal(PositionLookup{f32("table", Shape{4, 4}), Value{0}, padding});
  };
  EXPECT_EQ(with(0), "it was taken");
  EXPECT_EQ(with(2), "it was taken");
  EXPECT_THAT(with(3), HasSubstr("padding 3 of 'table', which has 4 rows"));
  EXPECT_THAT(with(-1), HasSubstr("padding -1"));
}

TEST(GraphBuilderTest, RefusesDistancesThatHaveNoBuckets) {
  const auto with = [](const Shape& shape, std::int64_t farthest) {
    Attention attention{.query = Value{2}, .key = Value{2}, .value = Value{2}, .mask = Value{1}, .heads = 2};
    attention.distance_bias = DistanceBias{.table = f32("table", shape), .farthest = farthest};
    return Started().refusal(attention);
  };
  EXPECT_EQ(with({8, 2}, 3), "it was taken");
  EXPECT_THAT(with({8, 2}, 2), HasSubstr("distances up to 2 in 'table' [8,2] for 2 heads"));
  EXPECT_THAT(with({8, 2}, 1 << 20), HasSubstr("distances up to 1048576"));
  EXPECT_THAT(with({8, 1}, 3), HasSubstr("[8,1] for 2 heads"));
  EXPECT_THAT(with({6, 2}, 3), HasSubstr("[6,2]"));
  EXPECT_THAT(with({0, 2}, 3), HasSubstr("[0,2]"));
  EXPECT_THAT(with({8}, 3), HasSubstr("'table' is f32 [8]"));
}

TEST(GraphBuilderTest, RefusesTurnsAndWindowsThatAreNone) {
  const auto with = [](const std::optional<Rotary>& rotary, std::optional<std::int64_t> window,
                       std::int64_t heads = 2) {
    return Started().refusal(Attention{.query = Value{2},
                                       .key = Value{2},
                                       .value = Value{2},
                                       .mask = Value{1},
                                       .heads = heads,
                                       .rotary = rotary,
                                       .window = window});
  };
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  EXPECT_EQ(with(Rotary{{1}, 8}, 0), "it was taken");
  EXPECT_THAT(with(Rotary{{1}, 8}, {}, 4), HasSubstr("turning 1 columns by 1 frequencies at 8 positions"));
  EXPECT_THAT(with(Rotary{{1, 1}, 8}, {}), HasSubstr("turning 2 columns by 2 frequencies"));
  EXPECT_THAT(with(Rotary{{kInfinity}, 8}, {}), HasSubstr("turning 2 columns"));
  EXPECT_THAT(with(Rotary{{1}, 8, kInfinity}, {}), HasSubstr("turning 2 columns"));
  EXPECT_THAT(with(Rotary{{1}, 0}, {}), HasSubstr("at 0 positions"));
  EXPECT_THAT(with(Rotary{{1}, std::int64_t{1} << 40}, {}), HasSubstr("turning 2 columns"));
  EXPECT_THAT(with({}, -1), HasSubstr("attention within -1 tokens"));
  EXPECT_THAT(with({}, std::int64_t{1} << 40), HasSubstr("attention within"));
  EXPECT_THAT(Started().refusal(Multiply{Value{2}, Value{3}}), HasSubstr("multiplying f32 [?,?,4] by f32 [?,4]"));
  EXPECT_EQ(Started().refusal(Multiply{Value{3}, Value{3}}), "it was taken");
}

TEST(GraphBuilderTest, RefusesSoftCapsThatAreNone) {
  const auto with = [](float cap) {
    return Started().refusal(Attention{
        .query = Value{2}, .key = Value{2}, .value = Value{2}, .mask = Value{1}, .heads = 2, .soft_cap = cap});
  };
  EXPECT_EQ(with(30), "it was taken");
  for (const float wrong : {0.0F, -1.0F, std::numeric_limits<float>::infinity()})
    EXPECT_THAT(with(wrong), HasSubstr("attention capped at")) << wrong;
}

TEST(GraphBuilderTest, RefusesShortConvolutionsThatDoNotFit) {
  const auto with = [](const Shape& weight, Value x = Value{2}, const std::optional<Weight>& bias = {}) {
    return Started().refusal(ShortConvolution{.x = x, .mask = Value{1}, .weight = f32("w", weight), .bias = bias});
  };
  EXPECT_EQ(with({4, 3}), "it was taken");
  EXPECT_EQ(with({4, 3}, Value{2}, f32("b", {4})), "it was taken");
  EXPECT_THAT(with({3, 4}), HasSubstr("'w' [3,4] for f32 [?,?,4]"));
  EXPECT_THAT(with({4, 0}), HasSubstr("'w' [4,0]"));
  EXPECT_THAT(with({4}), HasSubstr("'w' is f32 [4]"));
  EXPECT_THAT(with({4, 3}, Value{3}), HasSubstr("short convolution of f32 [?,4]"));
  EXPECT_THAT(with({4, 3}, Value{2}, f32("b", {3})), HasSubstr("'b' [3]"));
  for (const bool is_first : {true, false}) {
    Started started;
    const Attention attention{.query = started.states,
                              .key = started.states,
                              .value = started.states,
                              .mask = started.mask,
                              .may_be_unattended = true};
    const ShortConvolution convolution{.x = started.states, .mask = started.mask, .weight = f32("w", {4, 3})};
    started.graph.add(is_first ? Operator(convolution) : Operator(attention));
    EXPECT_THAT(started.refusal(is_first ? Operator(attention) : Operator(convolution)),
                HasSubstr("short convolution of tokens that may be unattended"));
  }
}

TEST(GraphBuilderTest, RefusesExpertsThatDoNotFit) {
  const auto with = [](std::int64_t experts, std::int64_t chosen, const Shape& wide, const Shape& narrow) {
    Started started;
    const Value router = started.input(ElementType::kF32, {kAny, kAny, experts});
    return started.refusal(Experts{.x = started.states,
                                   .router = router,
                                   .wide = f32("wide", wide),
                                   .narrow = f32("narrow", narrow),
                                   .chosen = chosen});
  };
  EXPECT_EQ(with(2, 2, {4, 4}, {4, 4}), "it was taken");
  EXPECT_THAT(with(2, 3, {4, 4}, {4, 4}), HasSubstr("3 of 2 experts"));
  EXPECT_THAT(with(2, 0, {4, 4}, {4, 4}), HasSubstr("0 of 2 experts"));
  EXPECT_THAT(with(3, 1, {4, 4}, {4, 4}), HasSubstr("'wide' [4,4] of 3 experts for f32 [?,?,4]"));
  EXPECT_THAT(with(2, 1, {4, 4}, {2, 4}), HasSubstr("'narrow' [2,4]"));
  EXPECT_THAT(with(2, 1, {2, 3}, {2, 3}), HasSubstr("'wide' [2,3]"));
  Experts of_texts;
  of_texts.x = Value{2};
  of_texts.router = Value{3};
  EXPECT_THAT(Started().refusal(of_texts), HasSubstr("by f32 [?,4]"));
}

TEST(GraphBuilderTest, RefusesSlopesThatAreNone) {
  const auto with = [](const LinearBias& bias, const std::optional<DistanceBias>& other = {}) {
    return Started().refusal(Attention{.query = Value{2},
                                       .key = Value{2},
                                       .value = Value{2},
                                       .mask = Value{1},
                                       .heads = 2,
                                       .distance_bias = other,
                                       .linear_bias = bias});
  };
  EXPECT_EQ(with({{0.5F, 0.25F}, 8}), "it was taken");
  EXPECT_THAT(with({{0.5F}, 8}), HasSubstr("1 slopes at 8 positions for 2 heads"));
  EXPECT_THAT(with({{0.5F, std::numeric_limits<float>::quiet_NaN()}, 8}), HasSubstr("2 slopes at 8"));
  EXPECT_THAT(with({{0.5F, 0.25F}, 0}), HasSubstr("at 0 positions"));
  EXPECT_THAT(with({{0.5F, 0.25F}, std::int64_t{1} << 40}), HasSubstr("2 slopes"));
  EXPECT_THAT(with({{0.5F, 0.25F}, 8}, DistanceBias{.table = f32("table", Shape{8, 2}), .farthest = 3}),
              HasSubstr("two biases"));
}

// As transformers' MPNet has them.
TEST(DistanceBiasTest, BucketsGrowWithTheLogarithm) {
  const DistanceBias bias{.table = f32("table", Shape{32, 2}), .farthest = 128};
  struct Known {
    std::int64_t first;
    std::int64_t bucket;
  };
  constexpr Known kKnown[] = {{0, 0},  {1, 1},   {2, 2},   {3, 3},   {4, 4},   {5, 5},   {6, 6},   {7, 7},    {8, 8},
                              {12, 9}, {16, 10}, {23, 11}, {32, 12}, {46, 13}, {64, 14}, {91, 15}, {1000, 15}};
  for (std::size_t i = 0; i + 1 < std::size(kKnown); ++i) {
    for (std::int64_t distance = kKnown[i].first; distance < kKnown[i + 1].first; ++distance) {
      EXPECT_EQ(bucket_of(bias, -distance), kKnown[i].bucket) << distance;
      EXPECT_EQ(bucket_of(bias, distance), kKnown[i].bucket + (distance > 0 ? 16 : 0)) << distance;
    }
  }
}

TEST(GraphBuilderTest, RefusesWeightsThatAreNotThere) {
  EXPECT_EQ(Started().refusal(Lookup{f32("t", Shape{4, 4}), Value{0}}), "it was taken");
  EXPECT_THAT(Started().refusal(Lookup{f32("t", Shape{4, 4}, 1), Value{0}}), HasSubstr("'t' is outside the weights"));
  EXPECT_THAT(Started().refusal(Lookup{f32("t", Shape{4, 4}, UINT64_MAX), Value{0}}),
              HasSubstr("'t' is outside the weights"));
  EXPECT_THAT(Started().refusal(Lookup{f32("t", Shape{INT64_MAX, 4}), Value{0}}), HasSubstr("'t' is f32"));
  EXPECT_THAT(Started().refusal(Lookup{f32("t", Shape{kAny, 4}), Value{0}}), HasSubstr("'t' is f32 [?,4]"));
  Weight integers = f32("t", Shape{2, 2});
  integers.type = ElementType::kI64;
  EXPECT_THAT(Started().refusal(Lookup{integers, Value{0}}), HasSubstr("'t' is i64"));
}

TEST(GraphBuilderTest, SaysTheFirstMistake) {
  Started started;
  const Value wrong = started.graph.add(Normalize{started.ids});
  const Value right = started.graph.add(Pool{wrong, started.mask});
  EXPECT_THAT(std::move(started.graph).finish(right, "y").status().to_string(), HasSubstr("normalisation"));
  EXPECT_EQ(GraphBuilder(core::FilePart()).add(Input{}).node, 0U);
  EXPECT_EQ(GraphBuilder(core::FilePart()).finish(Value{0}, "y").status().code(), StatusCode::kInvalidModel);
}

TEST(DescriptionTest, IsTheSameForTheSameGraphAndDiffersInEveryFigure) {
  const std::string plain = describe(*kit::small_graph());
  EXPECT_EQ(plain, describe(*kit::small_graph()));
  EXPECT_THAT(plain, HasSubstr("%0 i64[?,?] = input 3:ids\n"));
  EXPECT_THAT(plain, HasSubstr("= attention %8 %9 %10, mask %1, heads 2, scale 0x1p-1\n"));
  EXPECT_THAT(plain, HasSubstr("output 6:vector = %18\n"));
  for (const kit::SmallGraphOptions& other : {kit::SmallGraphOptions{.weights = ElementType::kF16},
                                              kit::SmallGraphOptions{.weights = ElementType::kBF16},
                                              kit::SmallGraphOptions{.activation = ActivationFunction::kRelu},
                                              kit::SmallGraphOptions{.activation = ActivationFunction::kGeluTanh},
                                              kit::SmallGraphOptions{.pooling = PoolingMode::kCls},
                                              kit::SmallGraphOptions{.pooling = PoolingMode::kMax},
                                              kit::SmallGraphOptions{.pooling = PoolingMode::kLastToken},
                                              kit::SmallGraphOptions{.pooled = false},
                                              kit::SmallGraphOptions{.scale = 0.50000006F},
                                              kit::SmallGraphOptions{.padding = 0},
                                              kit::SmallGraphOptions{.farthest = 9},
                                              kit::SmallGraphOptions{.rotary = true},
                                              kit::SmallGraphOptions{.slopes = {0.5F, 0.25F}},
                                              kit::SmallGraphOptions{.slopes = {0.5F, 0.5F}},
                                              kit::SmallGraphOptions{.soft_cap = 2.0F},
                                              kit::SmallGraphOptions{.window = 2},
                                              kit::SmallGraphOptions{.gated = true},
                                              kit::SmallGraphOptions{.biases = false},
                                              kit::SmallGraphOptions{.short_convolution = 2},
                                              kit::SmallGraphOptions{.short_convolution = 3},
                                              kit::SmallGraphOptions{.chosen = 1},
                                              kit::SmallGraphOptions{.chosen = 2},
                                              kit::SmallGraphOptions{.activation = ActivationFunction::kSilu}}) {
    EXPECT_NE(describe(*kit::small_graph(other)), plain);
  }
}

// What operators.h promises to who leaves the padding out.
TEST(OperatorsTest, WhatStandsAtPaddingReachesNoVector) {
  for (const PoolingMode mode : {PoolingMode::kCls, PoolingMode::kMean, PoolingMode::kMax, PoolingMode::kLastToken}) {
    const auto graph = kit::small_graph({.pooling = mode});
    const kit::Array all = kit::evaluate(*graph, kit::small_batch());
    const kit::Array alone = kit::evaluate(*graph, {{"ids", {{1, 2}, {6, 0}}}, {"mask", {{1, 2}, {1, 1}}}});
    for (std::size_t i = 0; i < 8; ++i)
      EXPECT_NEAR(all.values[8 + i], alone.values[i], 1e-12);
  }
}

}  // namespace
}  // namespace latebind::graph
