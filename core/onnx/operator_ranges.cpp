// What operators of ONNX make of the ranges of their inputs.
#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <utility>

#include "core/graph/onnx_types.h"
#include "core/onnx/value_range.h"

namespace latebind::onnx {
namespace {

using core::ElementType;

// Sorted: binary search.
constexpr std::array<std::string_view, 36> kMoves{
    "CenterCropPad", "Compress",     "DepthToSpace",   "Dropout",         "Expand",
    "Flatten",       "Gather",       "GatherElements", "GatherND",        "GlobalMaxPool",
    "Identity",      "MaxPool",      "MaxRoiPool",     "Optional",        "OptionalGetElement",
    "ReduceMax",     "ReduceMin",    "Reshape",        "ReverseSequence", "Scan",
    "Slice",         "SpaceToDepth", "Split",          "SplitToSequence", "Squeeze",
    "TensorScatter", "Tile",         "TopK",           "Transpose",       "Trilu",
    "Unique",        "Unsqueeze",    "Upsample",       "AveragePool",     "GlobalAveragePool",
    "ReduceMean"};

bool is_in(std::string_view op, auto const& list) {
  return std::ranges::find(list, op) != list.end();
}

constexpr std::array<std::string_view, 13> kTruth{
    "And", "Equal", "Greater", "GreaterOrEqual",     "IsInf",      "IsNaN", "Less", "LessOrEqual",
    "Not", "Or",    "Xor",     "OptionalHasElement", "StringEqual"};
constexpr std::array<std::string_view, 5> kIndices{"ArgMax", "ArgMin", "NonMaxSuppression", "NonZero", "Shape"};
constexpr std::array<std::string_view, 4> kZeroToOne{"HardSigmoid", "Hardmax", "Sigmoid", "Softmax"};
constexpr std::array<std::string_view, 8> kOneAround{"Cos", "Erf",      "GRU", "LSTM", "LpNormalization",
                                                     "RNN", "Softsign", "Tanh"};
// Layers with weights or that make numbers ordinary: what comes out is ordinary where what goes in is.
constexpr std::array<std::string_view, 16> kLayers{
    "Attention",       "BatchNormalization",        "CausalConvWithState",   "Col2Im", "DeformConv",
    "GridSample",      "GroupNormalization",        "InstanceNormalization", "LRN",    "LayerNormalization",
    "LinearAttention", "MeanVarianceNormalization", "RMSNormalization",      "Resize", "RoiAlign",
    "RotaryEmbedding"};
// How many elements come out depends on numbers that a run has.
constexpr std::array<std::string_view, 8> kMayGiveNothing{
    "Compress", "ConstantOfShape", "NonMaxSuppression", "NonZero", "Range", "SequenceEmpty", "Slice", "TopK"};
constexpr std::array<std::string_view, 9> kProducts{"Conv",   "ConvInteger",   "ConvTranspose", "Einsum",       "Gemm",
                                                    "MatMul", "MatMulInteger", "QLinearConv",   "QLinearMatMul"};

struct Interval {
  double low;
  double high;
  bool nan = false;
};

double product(double a, double b) {
  return a == 0 || b == 0 ? 0 : a * b;  // the limits of an interval: 0 times whatever is far away
}

Interval times(const ValueRange& a, const ValueRange& b) {
  const std::array<double, 4> corners{product(a.low, b.low), product(a.low, b.high), product(a.high, b.low),
                                      product(a.high, b.high)};
  const auto [low, high] = std::ranges::minmax(corners);
  const auto has_zero = [](const ValueRange& range) { return range.low <= 0 && range.high >= 0; };
  return {low, high, (a.may_be_infinite() && has_zero(b)) || (b.may_be_infinite() && has_zero(a))};
}

Interval divided(const ValueRange& a, const ValueRange& b, bool whole) {
  if (b.low <= 0 && b.high >= 0) {
    if (whole) return {-a.largest(), a.largest()};
    return {-kInfinite, kInfinite, (a.low <= 0 && a.high >= 0) || (a.may_be_infinite() && b.may_be_infinite())};
  }
  const auto quotient = [](double x, double y) { return std::isinf(y) ? 0 : x / y; };
  const std::array<double, 4> corners{quotient(a.low, b.low), quotient(a.low, b.high), quotient(a.high, b.low),
                                      quotient(a.high, b.high)};
  const auto [low, high] = std::ranges::minmax(corners);
  return {low, high, a.may_be_infinite() && b.may_be_infinite()};
}

Interval raised(const ValueRange& a, const ValueRange& b) {
  if (b.low == b.high && b.low == std::trunc(b.low) && b.low > 0) {
    const double low = std::pow(a.low, b.low);
    const double high = std::pow(a.high, b.low);
    const bool is_even = std::fmod(b.low, 2) == 0;
    if (!is_even) return {low, high};
    return {a.low <= 0 && a.high >= 0 ? 0 : std::min(low, high), std::max(low, high)};
  }
  if (a.low > 0 || (a.low >= 0 && b.low >= 0)) {
    const std::array<double, 4> corners{std::pow(a.low, b.low), std::pow(a.low, b.high), std::pow(a.high, b.low),
                                        std::pow(a.high, b.high)};
    double low = kInfinite;
    double high = 0;
    for (const double corner : corners) {
      if (std::isnan(corner)) return {0, kInfinite};
      low = std::min(low, corner);
      high = std::max(high, corner);
    }
    return {std::min(low, 1.0), std::max(high, 1.0)};
  }
  return {-kInfinite, kInfinite, a.low < 0};
}

// A function that is monotone between its turning points: its values at the ends and at those.
Interval through(const ValueRange& x, const std::function<double(double)>& f,
                 std::initializer_list<double> turns = {}) {
  double low = kInfinite;
  double high = -kInfinite;
  const auto take = [&](double at) {
    const double value = f(at);
    if (std::isnan(value)) return;
    low = std::min(low, value);
    high = std::max(high, value);
  };
  take(x.low);
  take(x.high);
  for (const double turn : turns) {
    if (turn > x.low && turn < x.high) take(turn);
  }
  if (low > high) return {-kInfinite, kInfinite};
  return {low, high};
}

// With a domain: outside of it the result is NaN.
Interval within(const ValueRange& x, double from, double to, const std::function<double(double)>& f) {
  ValueRange inside = x;
  inside.low = std::clamp(x.low, from, to);
  inside.high = std::clamp(x.high, from, to);
  Interval result = through(inside, f);
  result.nan = x.low < from || x.high > to;
  return result;
}

double number(const Node& node, std::string_view name, double otherwise) {
  const Attribute* attribute = node.find(name);
  return attribute != nullptr && attribute->number ? *attribute->number : otherwise;
}

std::optional<Interval> unary(const Node& node, const ValueRange& x) {
  const std::string_view op = node.op;
  const double alpha = number(node, "alpha", op == "LeakyRelu" ? 0.01 : op == "Selu" ? 1.67326 : 1);
  if (op == "Abs") return through(x, [](double v) { return std::abs(v); }, {0});
  if (op == "Neg") return through(x, [](double v) { return -v; });
  if (op == "Relu") return through(x, [](double v) { return std::max(v, 0.0); });
  if (op == "Ceil" || op == "Floor" || op == "Round") {
    return Interval{std::floor(x.low), std::ceil(x.high)};
  }
  if (op == "Sign") return Interval{-1, 1};
  if (op == "Exp") return through(x, [](double v) { return v > 88.72 ? kInfinite : std::exp(v); });
  if (op == "Log") return within(x, 0, kInfinite, [](double v) { return std::log(v); });
  if (op == "Sqrt") return within(x, 0, kInfinite, [](double v) { return std::sqrt(v); });
  if (op == "Acos") return within(x, -1, 1, [](double v) { return std::acos(v); });
  if (op == "Asin") return within(x, -1, 1, [](double v) { return std::asin(v); });
  if (op == "Atanh") return within(x, -1, 1, [](double v) { return std::atanh(v); });
  if (op == "Acosh") return within(x, 1, kInfinite, [](double v) { return std::acosh(v); });
  if (op == "Asinh") return through(x, [](double v) { return std::asinh(v); });
  if (op == "Atan") return Interval{-1.6, 1.6};
  if (op == "Sinh" || op == "Cosh") {
    const double far = x.largest() > 88 ? kInfinite : std::cosh(x.largest());
    return Interval{op == "Cosh" ? 0 : -far, far};
  }
  if (op == "Sin" || op == "Cos") return Interval{-1, 1, x.may_be_infinite()};
  if (op == "Tan") return Interval{-kInfinite, kInfinite, x.may_be_infinite()};
  if (op == "Elu" || op == "Celu" || op == "Selu") {
    const double gamma = op == "Selu" ? number(node, "gamma", 1.0507) : 1;
    return Interval{x.low < 0 ? -std::abs(alpha * gamma) : 0, std::max(x.high * gamma, 0.0)};
  }
  if (op == "LeakyRelu" || op == "ThresholdedRelu" || op == "Shrink") {
    const double far = std::max(1.0, std::abs(alpha)) * x.largest() + std::abs(number(node, "bias", 0));
    return Interval{x.low < 0 ? -far : 0, far};
  }
  if (op == "Softplus") return Interval{0, std::max(x.high, 0.0) + 1};
  if (op == "Gelu" || op == "Mish" || op == "HardSwish" || op == "Swish") {
    return Interval{op == "Swish" ? -x.largest() : -0.4, std::max(x.high, 0.0), x.low == -kInfinite};
  }
  if (op == "Reciprocal") {
    if (x.low <= 0 && x.high >= 0) return Interval{-kInfinite, kInfinite};
    return through(x, [](double v) { return 1 / v; });
  }
  if (op == "BitwiseNot") return Interval{lowest_of(x.type), highest_of(x.type)};
  if (op == "Clip") return std::nullopt;
  return std::nullopt;
}

double count_of(const ValueRange& range) {
  if (!range.has_shape) return kSizeMax;
  double count = 1;
  for (const std::int64_t size : range.shape)
    count *= size < 0 ? kSizeMax : static_cast<double>(size);
  return std::min(count, 1e12);
}

std::optional<Interval> reduced(std::string_view op, const ValueRange& x) {
  const double count = std::max(1.0, count_of(x));
  const double far = product(x.largest(), count);
  const bool both = x.low == -kInfinite && x.high == kInfinite;
  if (op == "ReduceSum" || op == "CumSum") {
    return Interval{std::min(0.0, product(x.low, count)), std::max(0.0, product(x.high, count)), both};
  }
  if (op == "ReduceL1" || op == "LpPool" || op == "GlobalLpPool" || op == "ReduceL2") return Interval{0, far};
  if (op == "ReduceSumSquare") return Interval{0, product(far, x.largest())};
  if (op == "ReduceLogSumExp") return Interval{x.low, x.high + std::log(count) + 1, false};
  if (op == "ReduceLogSum") {
    return Interval{-kInfinite, far > 0 ? std::log(far) : 0, x.low < 0};
  }
  if (op == "ReduceProd" || op == "CumProd" || op == "Det") return Interval{-kInfinite, kInfinite, x.may_be_infinite()};
  return std::nullopt;
}

std::optional<Interval> binary(const Node& node, const ValueRange& a, const ValueRange& b) {
  const std::string_view op = node.op;
  const bool whole = !is_float(a.type);
  if (op == "Add" || op == "Sum") {
    const bool nan = (a.high == kInfinite && b.low == -kInfinite) || (a.low == -kInfinite && b.high == kInfinite);
    return Interval{a.low + b.low, a.high + b.high, nan};
  }
  if (op == "Sub") {
    const bool nan = (a.high == kInfinite && b.high == kInfinite) || (a.low == -kInfinite && b.low == -kInfinite);
    return Interval{a.low - b.high, a.high - b.low, nan};
  }
  if (op == "Mul") return times(a, b);
  if (op == "Div") return divided(a, b, whole);
  if (op == "Pow") return raised(a, b);
  if (op == "Mod")
    return Interval{-b.largest(), b.largest(), !whole && (a.may_be_infinite() || (b.low <= 0 && b.high >= 0))};
  if (op == "Max") return Interval{std::max(a.low, b.low), std::max(a.high, b.high)};
  if (op == "Min") return Interval{std::min(a.low, b.low), std::min(a.high, b.high)};
  if (op == "Mean") return Interval{std::min(a.low, b.low), std::max(a.high, b.high)};
  if (op == "PRelu") {
    const Interval scaled = times(a, b);
    return Interval{std::min({0.0, a.low, scaled.low}), std::max({0.0, a.high, scaled.high}), scaled.nan};
  }
  if (op == "BitShift") {
    const Attribute* direction = node.find("direction");
    if (direction != nullptr && direction->text == "RIGHT") return Interval{0, a.high};
    return Interval{0, a.high * std::exp2(std::min(b.high, 64.0))};
  }
  if (op == "BitwiseAnd" || op == "BitwiseOr" || op == "BitwiseXor") {
    if (a.low < 0 || b.low < 0) {
      const double far = std::exp2(std::ceil(std::log2(std::max({a.largest(), b.largest(), 1.0}) + 1)));
      return Interval{-far, far - 1};
    }
    if (op == "BitwiseAnd") return Interval{0, std::min(a.high, b.high)};
    return Interval{0, std::exp2(std::ceil(std::log2(std::max({a.high, b.high, 1.0}) + 1))) - 1};
  }
  return std::nullopt;
}

// The elements of the longest sum of a product.
double terms_of(const Node& node, const ValueRange& a, const ValueRange& b) {
  const ValueRange& weights = b.has_shape ? b : a;
  if (!weights.has_shape) return 65'536;
  if (node.op.find("Conv") != std::string::npos) {
    double terms = 1;
    for (std::size_t i = 1; i < weights.shape.size(); ++i)
      terms *= weights.shape[i] < 0 ? 4096 : static_cast<double>(weights.shape[i]);
    if (node.op == "ConvTranspose" && !weights.shape.empty()) terms = std::max(terms, count_of(weights));
    return terms;
  }
  if (node.op == "Einsum") return std::min(count_of(weights), 65'536.0 * 65'536);
  double terms = 1;
  const auto take = [&](std::int64_t size) {
    terms = std::max(terms, size < 0 ? 65'536.0 : static_cast<double>(size));
  };
  const std::size_t rank = weights.shape.size();
  if (rank >= 1 && (rank == 1 || node.op == "Gemm")) take(weights.shape[rank - 1]);
  if (rank >= 2) take(weights.shape[&weights == &b ? rank - 2 : rank - 1]);
  return terms;
}

Interval multiplied(const Node& node, std::span<const ValueRange* const> inputs, std::span<const bool> constants) {
  const ValueRange& a = *inputs[0];
  const std::size_t second = node.op.starts_with("QLinear") ? 3 : 1;
  if (inputs.size() <= second || inputs[second] == nullptr) return {-kInfinite, kInfinite, true};
  const ValueRange& b = *inputs[second];
  const Interval one = times(a, b);
  // Zero points are subtracted first.
  const bool has_points = node.op == "MatMulInteger" || node.op == "ConvInteger";
  const auto shifted = [&](const ValueRange& range, std::size_t point) {
    const bool is_given = inputs.size() > point && inputs[point] != nullptr;
    return range.largest() + (is_given ? inputs[point]->largest() : 0);
  };
  double far = has_points ? product(shifted(a, 2), shifted(b, 3)) : std::max(std::abs(one.low), std::abs(one.high));
  far = product(far, terms_of(node, a, b));
  bool nan = one.nan || (a.may_be_infinite() && b.may_be_infinite()) || std::isinf(far);
  if (node.op == "Gemm") {
    far = far * std::abs(number(node, "alpha", 1)) +
          (inputs.size() > 2 && inputs[2] != nullptr ? inputs[2]->largest() : 0);
  } else if (inputs.size() > 2 && inputs[2] != nullptr && node.op.starts_with("Conv") && !has_points) {
    far += inputs[2]->largest();
  }
  const bool has_weights = constants[0] || constants[second];
  if (is_float(a.type) && has_weights && !nan && far > std::exp2(100)) far = kOrdinaryMax;
  if (is_float(a.type) && far > 3.4e38) {
    far = kInfinite;
    nan = true;
  }
  return {-far, far, nan};
}

ElementType type_of_attribute(const Node& node, std::string_view name, ElementType otherwise) {
  const Attribute* attribute = node.find(name);
  if (attribute == nullptr || !attribute->integer) return otherwise;
  return graph::element_type_of_onnx(static_cast<int>(*attribute->integer)).value_or(otherwise);
}

ValueRange cast(const ValueRange& x, ElementType to) {
  ValueRange made = ValueRange::any(to);
  made.is_size = x.is_size;
  made.has_shape = x.has_shape;
  made.shape = x.shape;
  if (to == ElementType::kBool) return made;
  made.exact_low = std::trunc(x.low);
  made.exact_high = std::trunc(x.high);
  if (is_float(to)) {
    const double most = to == ElementType::kF16 ? 65'504 : 3.4028234663852886e38;
    made.low = made.exact_low = x.low < -most ? -kInfinite : x.low;
    made.high = made.exact_high = x.high > most ? kInfinite : x.high;
    made.may_be_nan = x.may_be_nan;
    made.may_be_subnormal = x.may_be_subnormal;
    return made;
  }
  if (made.exact_low >= made.low && made.exact_high <= made.high) {
    made.low = made.exact_low;
    made.high = made.exact_high;
  }
  return made;
}

bool any_nan(std::span<const ValueRange* const> inputs) {
  return std::ranges::any_of(inputs, [](const ValueRange* one) { return one != nullptr && one->may_be_nan; });
}

// As the type holds it, and as sizes are taken to be.
ValueRange made_of(ElementType type, Interval exact, std::span<const ValueRange* const> inputs) {
  ValueRange made = ValueRange::any(type);
  made.is_size = !inputs.empty() &&
                 std::ranges::all_of(inputs, [](const ValueRange* one) { return one == nullptr || one->is_size; });
  if (made.is_size && !is_float(type)) {
    exact.low = std::max(exact.low, -kSizeMax);
    exact.high = std::min(exact.high, kSizeMax);
    if (exact.low > exact.high) exact = {-kSizeMax, kSizeMax};
  }
  made.exact_low = exact.low;
  made.exact_high = exact.high;
  if (is_float(type)) {
    const double most = type == ElementType::kF16 ? 65'504 : 3.4028234663852886e38;
    made.low = exact.low < -most ? -kInfinite : exact.low;
    made.high = exact.high > most ? kInfinite : exact.high;
    made.may_be_nan = exact.nan || any_nan(inputs);
    made.may_be_subnormal = false;
    return made;
  }
  if (exact.low >= made.low && exact.high <= made.high) {
    made.low = exact.low;
    made.high = exact.high;
  }
  return made;
}

ValueRange hull(const ValueRange& a, const ValueRange& b) {
  ValueRange made = a;
  made.low = std::min(a.low, b.low);
  made.high = std::max(a.high, b.high);
  made.exact_low = made.low;
  made.exact_high = made.high;
  made.may_be_nan = a.may_be_nan || b.may_be_nan;
  made.may_be_subnormal = a.may_be_subnormal || b.may_be_subnormal;
  made.is_size = a.is_size && b.is_size;
  made.has_shape = false;
  made.shape.clear();
  return made;
}

ValueRange without_shape(ValueRange range) {
  range.has_shape = false;
  range.shape.clear();
  range.exact_low = range.low;
  range.exact_high = range.high;
  return range;
}

ValueRange clipped(const Node& node, std::span<const ValueRange* const> inputs) {
  ValueRange made = *inputs[0];
  const auto limit = [&](std::size_t place, std::string_view name) -> std::optional<std::pair<double, double>> {
    if (const Attribute* attribute = node.find(name); attribute != nullptr && attribute->number) {
      return std::pair<double, double>{*attribute->number, *attribute->number};
    }
    if (place < inputs.size() && inputs[place] != nullptr) return std::pair{inputs[place]->low, inputs[place]->high};
    return std::nullopt;
  };
  if (const auto low = limit(1, "min")) {
    made.low = std::max(made.low, low->first);
    made.high = std::max(made.high, low->second);
  }
  if (const auto high = limit(2, "max")) {
    made.low = std::min(made.low, high->second);
    made.high = std::min(made.high, high->second);
  }
  made.exact_low = made.low;
  made.exact_high = made.high;
  return made;
}

ValueRange quantized(const Node& node, std::span<const ValueRange* const> inputs, std::size_t point) {
  const ElementType otherwise = type_of_attribute(node, "output_dtype", ElementType::kU8);
  const bool is_given = point < inputs.size() && inputs[point] != nullptr;
  const ElementType type = is_given ? inputs[point]->type : otherwise;
  return ValueRange::between(type, lowest_of(type), highest_of(type));
}

ValueRange first_output(const Node& node, std::span<const ValueRange* const> inputs, std::span<const bool> constants) {
  const std::string_view op = node.op;
  const ValueRange nothing = ValueRange::any(ElementType::kF32);
  const ValueRange& x = !inputs.empty() && inputs[0] != nullptr ? *inputs[0] : nothing;
  if (op == "Constant") {
    const Attribute* value = node.find("value");
    if (value != nullptr && value->tensor) return ValueRange::of(*value->tensor);
    ValueRange made = ValueRange::any(node.find("value_float") != nullptr || node.find("value_floats") != nullptr
                                          ? ElementType::kF32
                                          : ElementType::kI64);
    if (const Attribute* one = node.find("value_float"); one != nullptr && one->number)
      made = ValueRange::between(ElementType::kF32, *one->number, *one->number);
    if (const Attribute* one = node.find("value_int"); one != nullptr && one->integer)
      made = ValueRange::between(ElementType::kI64, static_cast<double>(*one->integer),
                                 static_cast<double>(*one->integer));
    made.is_size = true;
    return made;
  }
  if (op == "ConstantOfShape") {
    const Attribute* value = node.find("value");
    ValueRange made = value != nullptr && value->tensor ? without_shape(ValueRange::of(*value->tensor))
                                                        : ValueRange::between(ElementType::kF32, 0, 0);
    made.is_size = true;
    return made;
  }
  if (op == "Size" || is_in(op, kIndices)) return ValueRange::size();
  if (is_in(op, kTruth)) {
    ValueRange made = ValueRange::between(ElementType::kBool, 0, 1);
    made.is_size = true;
    return made;
  }
  if (op == "EyeLike") {
    ValueRange made = ValueRange::between(type_of_attribute(node, "dtype", x.type), 0, 1);
    made.is_size = true;
    return made;
  }
  if (op == "Cast") return cast(x, type_of_attribute(node, "to", x.type));
  if (op == "CastLike") return cast(x, inputs.size() > 1 && inputs[1] != nullptr ? inputs[1]->type : x.type);
  if (op == "OneHot") return inputs.size() > 2 && inputs[2] != nullptr ? without_shape(*inputs[2]) : nothing;
  if (op == "Where") {
    return inputs.size() > 2 && inputs[1] != nullptr && inputs[2] != nullptr ? hull(*inputs[1], *inputs[2]) : nothing;
  }
  if (op == "Clip") return clipped(node, inputs);
  if (op == "Concat" || op == "ConcatFromSequence" || op == "SequenceConstruct") {
    ValueRange made = without_shape(x);
    for (const ValueRange* input : inputs) {
      if (input != nullptr) made = hull(made, *input);
    }
    return made;
  }
  if (op == "Pad") {
    const ValueRange zero = ValueRange::between(x.type, 0, 0);
    const Attribute* value = node.find("value");
    if (value != nullptr && value->number) return hull(x, ValueRange::between(x.type, *value->number, *value->number));
    return hull(x, inputs.size() > 2 && inputs[2] != nullptr ? *inputs[2] : zero);
  }
  if (op == "ScatterElements" || op == "ScatterND" || op == "Scatter") {
    if (inputs.size() < 3 || inputs[2] == nullptr) return without_shape(x);
    const Attribute* how = node.find("reduction");
    if (how == nullptr || how->text == "none" || how->text == "max" || how->text == "min") return hull(x, *inputs[2]);
    const bool is_sum = how->text == "add";
    const double far = is_sum ? x.largest() + inputs[2]->largest() * std::max(1.0, count_of(*inputs[2])) : kInfinite;
    return made_of(x.type, {-far, far, !is_sum || std::isinf(far)}, inputs);
  }
  if (op == "Range") {
    const double far =
        std::max({x.largest(), inputs.size() > 1 && inputs[1] != nullptr ? inputs[1]->largest() : kInfinite});
    return made_of(x.type, {std::min(0.0, x.low), far}, inputs);
  }
  if (op == "QuantizeLinear") return quantized(node, inputs, 2);
  if (op == "DynamicQuantizeLinear") return ValueRange::between(ElementType::kU8, 0, 255);
  if (op == "DequantizeLinear") {
    const ElementType type = inputs.size() > 1 && inputs[1] != nullptr ? inputs[1]->type : ElementType::kF32;
    const double scale = inputs.size() > 1 && inputs[1] != nullptr ? inputs[1]->largest() : kInfinite;
    const double far = product(2 * x.largest() + 1, scale);
    return made_of(type, {-far, far}, inputs);
  }
  if (op == "QLinearMatMul" || op == "QLinearConv") return quantized(node, inputs, 7);
  if (op == "MatMulInteger" || op == "ConvInteger") {
    return made_of(ElementType::kI32, multiplied(node, inputs, constants), {});
  }
  if (is_in(op, kProducts)) return made_of(x.type, multiplied(node, inputs, constants), inputs);
  if (is_in(op, kZeroToOne)) {
    return made_of(x.type, {0, 1, op == "Softmax" && (x.high == kInfinite || x.low == -kInfinite)}, inputs);
  }
  if (op == "LogSoftmax") return made_of(x.type, {-kInfinite, 0, x.may_be_infinite()}, inputs);
  if (is_in(op, kOneAround)) return made_of(x.type, {-1, 1, x.may_be_infinite()}, inputs);
  if (is_in(op, kLayers)) {
    const bool is_ordinary = !x.may_be_infinite();
    const double far = is_ordinary ? std::max(kOrdinaryMax, x.largest()) : kInfinite;
    return made_of(x.type, {-far, far, !is_ordinary}, inputs);
  }
  if (only_moves(op)) {
    ValueRange made = without_shape(x);
    if (op == "Trilu" || op == "AveragePool" || op == "Gather") made.low = std::min(made.low, 0.0);
    if (op == "Trilu" || op == "AveragePool" || op == "Gather") made.high = std::max(made.high, 0.0);
    made.exact_low = made.low;
    made.exact_high = made.high;
    return made;
  }
  if (const auto made = unary(node, x)) return made_of(x.type, *made, inputs);
  if (const auto made = reduced(op, x)) return made_of(x.type, *made, inputs.first(1));
  if (op == "Sum" || op == "Mean" || op == "Max" || op == "Min" || (inputs.size() == 2 && inputs[1] != nullptr)) {
    ValueRange made = x;
    for (std::size_t i = 1; i < inputs.size(); ++i) {
      if (inputs[i] == nullptr) continue;
      const auto step = binary(node, made, *inputs[i]);
      if (!step) return ValueRange::any(x.type);
      const std::array<const ValueRange*, 2> both{&made, inputs[i]};
      made = made_of(x.type, *step, both);
    }
    return made;
  }
  return ValueRange::any(x.type);
}

}  // namespace

bool only_moves(std::string_view op) {
  return is_in(op, kMoves);
}

std::vector<ValueRange> ranges_after(const Node& node, std::span<const ValueRange* const> inputs,
                                     std::span<const bool> constants) {
  std::vector<ValueRange> made;
  if (!node.domain.empty()) {
    const ElementType type = !inputs.empty() && inputs[0] != nullptr ? inputs[0]->type : ElementType::kF32;
    made.assign(node.outputs.size(), ValueRange::any(type));
    return made;
  }
  made.push_back(first_output(node, inputs, constants));
  while (made.size() < node.outputs.size()) {
    const std::size_t place = made.size();
    if (node.op == "TopK" || node.op == "Unique" || node.op == "MaxPool") {
      made.push_back(ValueRange::size());
    } else if (node.op == "Split" || node.op == "RNN" || node.op == "GRU" || node.op == "LSTM") {
      made.push_back(made.front());
    } else if (node.op == "DynamicQuantizeLinear") {
      made.push_back(place == 1 ? ValueRange::between(ElementType::kF32, 0, kOrdinaryMax)
                                : ValueRange::between(ElementType::kU8, 0, 255));
    } else if (node.op == "Dropout") {
      made.push_back(ValueRange::between(ElementType::kBool, 0, 1));
    } else {
      made.push_back(ValueRange::any(made.front().type));
    }
  }
  const bool takes_nothing =
      std::ranges::any_of(inputs, [](const ValueRange* one) { return one != nullptr && one->may_be_empty; });
  const bool gives_numbers = node.op == "Shape" || node.op == "Size" || node.op == "Constant";
  for (ValueRange& one : made)
    one.may_be_empty = !gives_numbers && (takes_nothing || is_in(node.op, kMayGiveNothing));
  return made;
}

}  // namespace latebind::onnx
