#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "core/onnx/value_range.h"

namespace latebind::onnx {
namespace {

using core::ElementType;

constexpr double kI32Max = 2'147'483'647;
constexpr double kU64Max = 18'446'744'073'709'551'615.0;

Attribute real(float number) {
  Attribute made;
  made.number = number;
  return made;
}

Attribute whole(std::int64_t number) {
  Attribute made;
  made.integer = number;
  made.text = std::to_string(number);
  return made;
}

Attribute text(const std::string& word) {
  Attribute made;
  made.text = word;
  return made;
}

ValueRange f32(double low, double high) {
  return ValueRange::between(ElementType::kF32, low, high);
}

ValueRange i32(double low, double high) {
  return ValueRange::between(ElementType::kI32, low, high);
}

ValueRange shaped(ValueRange range, std::vector<std::int64_t> shape) {
  range.has_shape = true;
  range.shape = std::move(shape);
  return range;
}

ValueRange fixed(ValueRange range) {
  range.may_be_folded = true;
  range.is_size = range.largest() <= kSizeMax;
  return range;
}

ValueRange empty(ValueRange range) {
  range.may_be_empty = true;
  return range;
}

std::vector<ValueRange> all_after(const std::string& op, const std::vector<ValueRange>& inputs,
                                  const Attributes& attributes = {}, std::size_t outputs = 1) {
  Node node;
  node.op = op;
  node.attributes = attributes;
  std::vector<const ValueRange*> pointers;
  for (const ValueRange& range : inputs) {
    pointers.push_back(&range);
    node.inputs.emplace_back("i");
  }
  node.outputs.assign(outputs, "o");
  return ranges_after(node, pointers);
}

ValueRange after(const std::string& op, const std::vector<ValueRange>& inputs, const Attributes& attributes = {}) {
  return all_after(op, inputs, attributes).front();
}

struct Row {
  std::string op;
  std::vector<ValueRange> inputs;
  Attributes attributes;
  double low;
  double high;
  bool nan = false;
};

TEST(OperatorRangesTest, AreWhatTheDefinitionsSay) {
  const double inf = kInfinite;
  const ValueRange any = ValueRange::any(ElementType::kF32);
  const std::vector<Row> rows{
      {"Abs", {f32(-3, 2)}, {}, 0, 3},
      {"Abs", {f32(-3, -2)}, {}, 2, 3},
      {"Neg", {f32(-3, 2)}, {}, -2, 3},
      {"Relu", {f32(-3, 2)}, {}, 0, 2},
      {"Floor", {f32(-1.5, 2.5)}, {}, -2, 3},
      {"Sign", {f32(0, 5)}, {}, 0, 1},
      {"Sign", {any}, {}, -1, 1, true},
      {"Sign", {ValueRange::any(ElementType::kU32)}, {}, 0, 1},
      {"Exp", {f32(0, 100)}, {}, 1, inf},
      {"Log", {f32(1, 1)}, {}, 0, 0},
      {"Log", {f32(0, 1)}, {}, -inf, 0},
      {"Log", {f32(-1, 1)}, {}, -inf, 0, true},
      {"Sqrt", {f32(4, 9)}, {}, 2, 3},
      {"Sqrt", {f32(-4, 9)}, {}, 0, 3, true},
      {"Reciprocal", {f32(2, 4)}, {}, 0.25, 0.5},
      {"Reciprocal", {f32(0, 4)}, {}, -inf, inf},
      {"Sin", {f32(0, 9)}, {}, -1, 1},
      {"Sin", {f32(0, inf)}, {}, -1, 1, true},
      {"Tanh", {f32(0, inf)}, {}, -1, 1},
      {"Softplus", {f32(-9, 0)}, {}, 0, 1},
      {"Softmax", {f32(-9, 9)}, {}, 0, 1},
      {"Softmax", {f32(-inf, 9)}, {}, 0, 1},
      {"Softmax", {f32(-9, inf)}, {}, 0, 1, true},
      {"LogSoftmax", {f32(-9, 9)}, {}, -inf, 0},
      {"Elu", {f32(-9, 9)}, {{"alpha", real(2)}}, -2, 9},
      {"Elu", {f32(-9, 1)}, {{"alpha", real(-2)}}, 0, 2},
      {"Celu", {f32(-9, 1)}, {{"alpha", real(-1)}}, -inf, inf, true},
      {"Selu", {f32(-9, 1)}, {{"alpha", real(2)}, {"gamma", real(3)}}, -6, 3},
      {"Selu", {f32(-9, 1)}, {{"alpha", real(2)}, {"gamma", real(-3)}}, -3, 6},
      {"LeakyRelu", {f32(0, 5)}, {}, 0, 5},
      {"LeakyRelu", {f32(-5, 5)}, {{"alpha", real(-3)}}, -15, 15},
      {"Shrink", {f32(1, 5)}, {{"bias", real(2)}}, -7, 7},
      {"HardSwish", {f32(-inf, 5)}, {}, -0.4F, 5, true},
      {"Add", {f32(1, 2), f32(3, 4)}, {}, 4, 6},
      {"Add", {f32(0, inf), f32(-inf, 0)}, {}, -inf, inf, true},
      {"Add", {f32(3e38, 3e38), f32(3e38, 3e38)}, {}, 3.4028235e38, inf},
      {"Sub", {f32(1, 2), f32(3, 4)}, {}, -3, -1},
      {"Sub", {f32(0, inf), f32(0, inf)}, {}, -inf, inf, true},
      {"Mul", {f32(-1, 2), f32(-3, 4)}, {}, -6, 8},
      {"Mul", {f32(0, 1), f32(1, inf)}, {}, 0, inf, true},
      {"Div", {f32(1, 2), f32(4, 8)}, {}, 0.125, 0.5},
      {"Div", {f32(1, 2), f32(0, 8)}, {}, -inf, inf},
      {"Div", {f32(0, 2), f32(0, 8)}, {}, -inf, inf, true},
      {"Div", {f32(1, inf), f32(2, inf)}, {}, 0, inf, true},
      {"Div", {i32(3, 3), i32(2, 2)}, {}, 1, 2},
      {"Pow", {f32(-2, 3), f32(2, 2)}, {}, 0, 9},
      {"Pow", {f32(-2, 3), f32(3, 3)}, {}, -8, 27},
      {"Pow", {f32(-2, 3), f32(0.5, 0.5)}, {}, -inf, inf, true},
      {"Pow", {f32(0, 4), f32(0.5, 0.5)}, {}, 0, 2},
      {"Pow", {f32(0, 4), f32(-1, 1)}, {}, -inf, inf},
      {"Pow", {i32(2, 2), f32(-1, -1)}, {}, 0, 1},
      {"Mod", {i32(-7, 7), i32(3, 3)}, {}, -3, 3},
      {"Mod", {i32(0, 7), i32(3, 3)}, {}, 0, 3},
      {"Mod", {f32(-1, 7), f32(3, inf)}, {{"fmod", whole(1)}}, -7, 7},
      {"Mod", {f32(-1, 7), f32(0, 3)}, {{"fmod", whole(1)}}, -3, 3, true},
      {"Max", {f32(-1, 2), f32(0, 1)}, {}, 0, 2},
      {"Max", {f32(-1, 2)}, {}, -1, 2},
      {"Min", {f32(-1, 2), f32(0, 1)}, {}, -1, 1},
      {"Sum", {f32(-1, 2), f32(0, 1), f32(5, 5)}, {}, 4, 8},
      {"Mean", {f32(-inf, 0), f32(0, inf)}, {}, -inf, inf, true},
      {"PRelu", {f32(-2, 3), f32(-4, 5)}, {}, -10, 8},
      {"Where", {ValueRange::any(ElementType::kBool), f32(1, 2), f32(-inf, -inf)}, {}, -inf, 2},
      {"Clip", {f32(-inf, inf), f32(0, 1), f32(5, 6)}, {}, 0, 6},
      {"Clip", {f32(9, 9), f32(0, 1), f32(2, 6)}, {}, 2, 6},
      {"Clip", {f32(-9, 9)}, {{"min", real(0)}, {"max", real(6)}}, 0, 6},
      {"Clip", {f32(-9, 9), any}, {}, -9, inf, true},
      {"BitShift",
       {ValueRange::any(ElementType::kU8), ValueRange::any(ElementType::kU8)},
       {{"direction", text("LEFT")}},
       0,
       255},
      {"BitwiseAnd", {i32(0, 5), i32(0, 9)}, {}, 0, 5},
      {"BitwiseOr", {i32(0, 5), i32(0, 8)}, {}, 0, 15},
      {"BitwiseXor", {i32(-5, 5), i32(0, 8)}, {}, -16, 16},
      // A tensor of unknown type counts as one of f32.
      {"BitwiseAnd", {any, i32(0, 9)}, {}, -inf, inf, true},
      {"BitwiseOr", {f32(0, inf), i32(0, 8)}, {}, 0, inf},
      {"ReduceSum", {shaped(f32(-1, 2), {2, 5})}, {}, -10, 20},
      {"ReduceMax", {f32(1, 2)}, {}, 1, 2},
      {"ReduceMax", {empty(f32(1, 2))}, {}, -inf, 2},
      {"ReduceMin", {empty(i32(1, 2))}, {}, 1, kI32Max},
      {"ReduceMean", {empty(f32(1, 2))}, {}, 1, 2, true},
      {"ReduceL2", {shaped(f32(-3, 2), {2})}, {}, 0, 6},
      {"ReduceL2", {shaped(f32(-3, 2), {2})}, {{"noop_with_empty_axes", whole(1)}}, -3, 6},
      {"ReduceL2", {shaped(f32(0, 1e20), {2})}, {}, 0, inf},
      {"ReduceLogSum", {f32(-1, 1)}, {}, -inf, static_cast<float>(std::log(kSizeMax)), true},
      {"ReduceProd", {shaped(f32(-2, 2), {3})}, {}, -8, 8},
      {"AveragePool", {f32(1, 2)}, {}, 0, 2},
      {"MaxPool", {f32(1, 2)}, {{"dilations", text("1,1")}}, 1, 2},
      {"MaxPool", {f32(1, 2)}, {{"dilations", text("2,1")}}, -inf, 2},
      {"Trilu", {f32(1, 2)}, {}, 0, 2},
      {"Pad", {f32(1, 2)}, {}, 0, 2},
      {"Pad", {f32(1, 2)}, {{"value", real(-3)}}, -3, 2},
      {"Pad", {f32(1, 2), ValueRange::size(), f32(7, 7)}, {}, 1, 7},
      {"Concat", {f32(1, 2), f32(-3, -3), any}, {}, -inf, inf, true},
      {"OneHot", {i32(0, 5), i32(5, 5), f32(-1, 1)}, {}, -1, 1},
      {"ScatterND", {f32(1, 2), ValueRange::size(), f32(-4, 0)}, {}, -4, 2},
      {"ScatterND", {f32(1, 2), ValueRange::size(), shaped(f32(-4, 0), {3})}, {{"reduction", text("add")}}, -14, 14},
      {"ScatterElements", {f32(1, 2), ValueRange::size(), f32(1, 2)}, {{"reduction", text("mul")}}, -inf, inf, true},
      {"TensorScatter", {f32(1, 2), f32(5, 6)}, {}, 1, 6},
      {"Range", {f32(5, 5), f32(-3, -3), f32(-0.5, -0.5)}, {}, -3, 5},
      {"Resize", {shaped(f32(0, 1), {1, 1})}, {{"mode", text("linear")}}, 0, 1},
      {"Resize", {shaped(f32(0, 1), {1, 1})}, {{"mode", text("cubic")}}, -12.25, 12.25},
      {"DequantizeLinear", {i32(0, 1), f32(0.5, 0.5), i32(-10, -10)}, {}, -5.5, 5.5},
      {"Gemm",
       {shaped(f32(0, 2), {4, 3}), shaped(f32(0, 5), {3, 3}), f32(0, 10)},
       {{"alpha", real(0)}, {"beta", real(-4)}},
       -40,
       40},
      {"MatMul", {shaped(f32(0, 2), {4, 3}), shaped(f32(0, 5), {3, 9})}, {}, -30, 30},
      {"Einsum", {shaped(f32(0, 2), {4, 3}), shaped(f32(0, 5), {4, 3})}, {{"equation", text("ij,ij->i")}}, -30, 30},
      {"Dropout", {f32(1, 2)}, {}, 1, 2},
      {"Dropout", {f32(1, 2), f32(0, 1), ValueRange::any(ElementType::kBool)}, {}, -inf, inf, true},
      {"LSTM", {f32(-9, 9)}, {}, -1, 1},
      {"LSTM", {f32(-9, 9)}, {{"activations", text("")}}, -inf, inf, true},
      {"Cast", {f32(-2.5, 3e9)}, {{"to", whole(7)}}, -2, 3e9},
      {"Cast", {i32(0, 300)}, {{"to", whole(2)}}, 0, 255},
      {"Cast", {f32(0, 1e5)}, {{"to", whole(10)}}, 0, inf},
      {"Cast", {any}, {{"to", whole(9)}}, 0, 1},
      {"HannWindow", {i32(0, 9)}, {}, -inf, inf, true},
      {"NobodyKnows", {f32(0, 1)}, {}, -inf, inf, true},
  };
  for (const Row& row : rows) {
    const ValueRange made = after(row.op, row.inputs, row.attributes);
    EXPECT_NEAR(std::isinf(row.low) || std::isinf(made.low) ? 0 : made.low, std::isinf(row.low) ? 0 : row.low,
                std::abs(row.low) * 1e-6)
        << row.op << ": " << made.low << " " << made.high;
    EXPECT_EQ(std::isinf(row.low), std::isinf(made.low)) << row.op << ": " << made.low;
    EXPECT_EQ(std::isinf(row.high), std::isinf(made.high)) << row.op << ": " << made.high;
    if (!std::isinf(row.high) && !std::isinf(made.high)) {
      EXPECT_NEAR(made.high, row.high, std::abs(row.high) * 1e-6) << row.op;
    }
    EXPECT_EQ(made.may_be_nan, row.nan) << row.op;
  }
}

TEST(OperatorRangesTest, AnAxisThatNoTensorHasLeavesAllElements) {
  ValueRange squares = shaped(f32(0, 9), {2, 3});
  squares.relation = {Relation::Kind::kSquare, 1, 1};
  const auto along = [&](double axis) {
    const ValueRange axes = shaped(ValueRange::between(ElementType::kI64, axis, axis), {1});
    return after("ReduceMean", {squares, axes}).relation.times;
  };
  EXPECT_EQ(along(-1), std::sqrt(3.0));
  EXPECT_EQ(along(0), std::sqrt(2.0));
  for (const double axis : {2.0, -3.0, highest_of(ElementType::kI64), lowest_of(ElementType::kI64), kInfinite})
    EXPECT_EQ(along(axis), std::sqrt(6.0)) << axis;
}

TEST(OperatorRangesTest, WhatWrapsAroundIsAnyNumberAndSaysSo) {
  const ValueRange sum = after("Add", {i32(0, kI32Max), i32(0, 1)});
  EXPECT_EQ(sum.low, -2'147'483'648.0);
  EXPECT_EQ(sum.exact_high, kI32Max + 1);
  const ValueRange all = ValueRange::any(ElementType::kI64);
  // Doubles do not hold the largest number of 64 bits, and none of it is lost for that.
  const ValueRange wide = after("Add", {all, ValueRange::between(ElementType::kI64, 1, 1)});
  EXPECT_GT(wide.exact_high, highest_of(ElementType::kI64));
  const ValueRange back = after("Sub", {all, ValueRange::between(ElementType::kI64, 1, 1)});
  EXPECT_LT(back.exact_low, lowest_of(ElementType::kI64));
  EXPECT_EQ(after("BitwiseNot", {ValueRange::any(ElementType::kU64)}).high, kU64Max);
  // What NaN becomes is not defined; and f32 has no 2^31 - 1.
  EXPECT_EQ(after("Cast", {ValueRange::any(ElementType::kF32)}, {{"to", whole(6)}}).exact_high, kInfinite);
  const ValueRange rounded = after("Cast", {after("Cast", {i32(0, kI32Max)}, {{"to", whole(1)}})}, {{"to", whole(6)}});
  EXPECT_EQ(rounded.exact_high, kI32Max + 1);
}

TEST(OperatorRangesTest, SizesStaySizesAndConstantsAreCounted) {
  const ValueRange size = after("Shape", {f32(0, 1)});
  EXPECT_TRUE(size.is_size);
  const ValueRange product = after("Mul", {size, size});
  EXPECT_TRUE(product.is_size);
  EXPECT_EQ(product.high, kSizeMax);
  // No assumption is made of constants.
  const ValueRange number = fixed(i32(5'000, 5'000));
  const ValueRange squared = after("Mul", {number, number});
  EXPECT_EQ(squared.high, 25e6);
  EXPECT_FALSE(squared.is_size);
  EXPECT_TRUE(squared.may_be_folded);
  const ValueRange truth = after("Equal", {i32(0, 9), i32(0, 9)});
  const ValueRange scaled = after("Mul", {after("Mul", {after("Cast", {truth}, {{"to", whole(6)}}), number}), number});
  EXPECT_EQ(scaled.high, 25e6);
  EXPECT_FALSE(scaled.may_be_folded);
  // A limit beside a size.
  const ValueRange limit = fixed(ValueRange::between(ElementType::kI64, 9.2e18, 9.2e18));
  EXPECT_EQ(after("Min", {limit, size}).high, kSizeMax);
  EXPECT_EQ(after("Add", {fixed(ValueRange::between(ElementType::kI64, 1e12, 1e12)), size}).high, 1e12 + kSizeMax);
  EXPECT_FALSE(after("Add", {size, i32(0, 1)}).is_size);
}

TEST(OperatorRangesTest, OtherOutputsHaveRangesOfTheirOwn) {
  EXPECT_TRUE(all_after("TopK", {f32(0, 1), ValueRange::size()}, {}, 2)[1].is_size);
  const auto lstm = all_after("LSTM", {f32(0, 1)}, {}, 3);
  EXPECT_EQ(lstm[1].high, 1);
  EXPECT_GT(lstm[2].high, 1'000);
  const auto quantized = all_after("DynamicQuantizeLinear", {f32(-10, 1e20)}, {}, 3);
  EXPECT_EQ(quantized[0].type, ElementType::kU8);
  EXPECT_GE(quantized[1].high, 2e20 / 255);
  EXPECT_EQ(quantized[2].type, ElementType::kU8);
  EXPECT_EQ(all_after("Dropout", {f32(0, 1)}, {}, 2)[1].type, ElementType::kBool);
  EXPECT_EQ(all_after("Split", {f32(0, 1)}, {}, 3)[2].high, 1);
  EXPECT_EQ(all_after("Theirs", {f32(0, 1)}, {}, 2)[1].high, kInfinite);
}

TEST(OperatorRangesTest, OrdinaryLayersKeepNumbersOrdinary) {
  const ValueRange weights = fixed(shaped(f32(-1e12, 1e12), {1'000, 1'000}));
  EXPECT_EQ(after("MatMul", {f32(-1e30, 1e30), weights}).high, kOrdinaryMax);
  const ValueRange halves = ValueRange::between(ElementType::kF16, -60'000, 60'000);
  EXPECT_EQ(after("MatMul", {halves, fixed(shaped(halves, {10, 10}))}).high, 2'048);
  EXPECT_TRUE(after("MatMul", {f32(0, kInfinite), weights}).may_be_nan);
  EXPECT_EQ(after("MatMul", {f32(-1e30, 1e30), f32(-1e30, 1e30)}).high, kInfinite);
  EXPECT_EQ(after("LayerNormalization", {f32(-9, 9), shaped(f32(0, 2), {100})}).high, 22);  // 2 * (sqrt(100) + 1)
  EXPECT_TRUE(after("LayerNormalization", {f32(-9, 9), f32(0, kInfinite)}).may_be_nan);
}

TEST(OperatorRangesTest, TensorsBecomeEmptyByNumbersOfARunAlone) {
  const ValueRange x = f32(0, 1);
  EXPECT_FALSE(after("Add", {x, x}).may_be_empty);
  EXPECT_TRUE(after("Add", {x, empty(x)}).may_be_empty);
  EXPECT_TRUE(after("NonZero", {x}).may_be_empty);
  EXPECT_FALSE(after("Expand", {x, after("Shape", {x})}).may_be_empty);
  EXPECT_TRUE(after("Expand", {x, i32(0, 9)}).may_be_empty);
  EXPECT_FALSE(after("Shape", {empty(x)}).may_be_empty);
  EXPECT_TRUE(after("Shape", {shaped(x, {})}).may_be_empty);
  EXPECT_FALSE(after("Shape", {shaped(x, {1})}).may_be_empty);
}

TEST(OperatorRangesTest, ConstantsHaveTheirNumbers) {
  Attribute list;
  const std::vector<std::int64_t> numbers{-1, 40};
  list.tensor = Constant{ElementType::kI64, {2}, std::as_bytes(std::span(numbers)), nullptr, true};
  EXPECT_EQ(after("Constant", {}, {{"value_ints", list}}).high, 40);
  EXPECT_EQ(after("Constant", {}, {{"value_int", whole(7)}}).low, 7);
  EXPECT_EQ(after("Constant", {}, {{"value_float", real(-2)}}).high, -2);
  EXPECT_TRUE(after("Constant", {}, {{"value_float", real(std::nanf(""))}}).may_be_nan);
  EXPECT_EQ(after("Constant", {}, {{"sparse_value", {}}}).high, kInfinite);
  const std::vector<float> floats{1e-40F, -std::numeric_limits<float>::infinity(), std::nanf("")};
  const ValueRange range = ValueRange::of({ElementType::kF32, {3}, std::as_bytes(std::span(floats)), nullptr, true});
  EXPECT_TRUE(range.may_be_nan && range.may_be_subnormal && range.may_be_folded);
  EXPECT_EQ(range.low, -kInfinite);
  EXPECT_FALSE(range.is_size);
  // Those that are not looked at.
  EXPECT_EQ(ValueRange::of({ElementType::kF32, {3}}).high, kWeightMax);
  EXPECT_EQ(ValueRange::of({ElementType::kI32, {3}}).high, kI32Max);
}

TEST(OperatorRanksTest, RanksFollowTheDefinitions) {
  const ValueRange x = shaped(f32(-1, 1), {2, -1, 4});
  const ValueRange vector = shaped(f32(-1, 1), {4});
  const ValueRange scalar = shaped(f32(0, 0), {});
  const ValueRange two = shaped(ValueRange::between(ElementType::kI64, 0, 9), {2});
  const ValueRange unknown = f32(-1, 1);
  const auto rank = [](const std::string& op, std::vector<const ValueRange*> inputs, Attributes attributes = {}) {
    Node node{.op = op, .outputs = {"y"}, .attributes = std::move(attributes)};
    for (std::size_t i = 0; i < inputs.size(); ++i)
      node.inputs.push_back(inputs[i] != nullptr ? "i" + std::to_string(i) : "");
    const auto found = rank_after(node, inputs);
    return found ? static_cast<int>(*found) : -1;
  };
  EXPECT_EQ(rank("Relu", {&x}), 3);
  EXPECT_EQ(rank("Relu", {&unknown}), -1);
  EXPECT_EQ(rank("Add", {&vector, &x}), 3);
  EXPECT_EQ(rank("Add", {&unknown, &x}), -1);
  EXPECT_EQ(rank("ReduceSum", {&x}), 3);
  EXPECT_EQ(rank("ReduceSum", {&x}, {{"keepdims", whole(0)}}), 0);
  EXPECT_EQ(rank("ReduceSum", {&x}, {{"keepdims", whole(0)}, {"noop_with_empty_axes", whole(1)}}), 3);
  EXPECT_EQ(rank("ReduceSum", {&x, &two}, {{"keepdims", whole(0)}}), 1);
  EXPECT_EQ(rank("ReduceSum", {&x, &unknown}, {{"keepdims", whole(0)}}), -1);
  EXPECT_EQ(rank("ArgMax", {&x}, {{"keepdims", whole(0)}}), 2);
  EXPECT_EQ(rank("MatMul", {&x, &vector}), 2);
  EXPECT_EQ(rank("MatMul", {&x, &x}), 3);
  EXPECT_EQ(rank("MatMul", {&vector, &vector}), 0);
  EXPECT_EQ(rank("Reshape", {&unknown, &two}), 2);
  EXPECT_EQ(rank("Expand", {&vector, &two}), 2);
  EXPECT_EQ(rank("Unsqueeze", {&x, &two}), 5);
  EXPECT_EQ(rank("Squeeze", {&x, &two}), 1);
  EXPECT_EQ(rank("Squeeze", {&x}), -1);
  EXPECT_EQ(rank("Gather", {&x, &scalar}), 2);
  EXPECT_EQ(rank("OneHot", {&two}), 2);
  EXPECT_EQ(rank("Compress", {&x}), 1);
  EXPECT_EQ(rank("Compress", {&x}, {{"axis", whole(0)}}), 3);
  EXPECT_EQ(rank("Size", {&x}), 0);
  EXPECT_EQ(rank("Shape", {&x}), 1);
  EXPECT_EQ(rank("NonZero", {&unknown}), 2);
  EXPECT_EQ(rank("Other", {&x}), -1);
}

TEST(OperatorRangesTest, APlaceIsOneThatItsInputHas) {
  const ValueRange x = shaped(f32(-1, 1), {3, 5});
  const std::vector<const ValueRange*> inputs{&x};
  const auto highest = [&](const Node& node) {
    const ValueRange made = ranges_after(node, inputs)[0];
    EXPECT_TRUE(made.is_size);
    return made.is_assumed ? -1 : static_cast<int>(made.high);
  };
  EXPECT_EQ(highest({.op = "ArgMax", .inputs = {"x"}, .outputs = {"y"}}), 2);
  EXPECT_EQ(highest({.op = "ArgMin", .inputs = {"x"}, .outputs = {"y"}, .attributes = {{"axis", whole(-1)}}}), 4);
  EXPECT_EQ(highest({.op = "NonZero", .inputs = {"x"}, .outputs = {"y"}}), 4);
  const ValueRange open = shaped(f32(-1, 1), {-1, 5});
  const std::vector<const ValueRange*> opens{&open};
  EXPECT_TRUE(ranges_after({.op = "ArgMax", .inputs = {"x"}, .outputs = {"y"}}, opens)[0].is_assumed);
}

TEST(OperatorRangesTest, AConstantWithoutElementsIsEmpty) {
  Constant nothing;
  nothing.type = ElementType::kI64;
  nothing.shape = {2, 0};
  nothing.is_read = true;
  Node node{.op = "Constant", .outputs = {"y"}};
  node.attributes["value"].tensor = nothing;
  EXPECT_TRUE(ranges_after(node, {})[0].may_be_empty);
  node.attributes.clear();
  node.attributes["value_int"] = whole(3);
  EXPECT_FALSE(ranges_after(node, {})[0].may_be_empty);
}

}  // namespace
}  // namespace latebind::onnx
