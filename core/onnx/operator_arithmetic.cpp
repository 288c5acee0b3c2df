#include "core/onnx/operator_arithmetic.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <initializer_list>
#include <utility>

namespace latebind::onnx {
namespace {

// The magnitude beyond which exp() overflows or vanishes in f32.
constexpr double kExpMax = 87;

bool has_zero(const ValueRange& range) {
  return range.low <= 0 && range.high >= 0;
}

// Returns the interval that contains all corners.
Interval around(std::initializer_list<double> corners, bool nan = false) {
  const auto [low, high] = std::minmax(corners);
  return {low, high, nan};
}

// Adds two limits. If the sum of whole numbers is not exact, it is rounded away from 0, so that a sum just beyond the
// largest 64-bit integer stays beyond it.
double sum(double a, double b, double towards) {
  const double exact = a + b;
  return std::isinf(exact) || (exact - a == b && exact - b == a) ? exact : std::nextafter(exact, towards);
}

Interval times(const ValueRange& a, const ValueRange& b) {
  const bool nan = (a.may_be_infinite() && has_zero(b)) || (b.may_be_infinite() && has_zero(a));
  return around({limit_product(a.low, b.low), limit_product(a.low, b.high), limit_product(a.high, b.low),
                 limit_product(a.high, b.high)},
                nan);
}

// For results that are truncated to whole numbers.
Interval whole(Interval exact) {
  return {std::floor(exact.low), std::ceil(exact.high), exact.nan};
}

Interval divided(const ValueRange& a, const ValueRange& b) {
  if (has_zero(b)) {
    if (!is_float(a.type)) return {-a.largest(), a.largest()};
    return {-kInfinite, kInfinite, has_zero(a) || (a.may_be_infinite() && b.may_be_infinite())};
  }
  const auto quotient = [](double x, double y) { return std::isinf(y) ? 0 : x / y; };
  const Interval exact =
      around({quotient(a.low, b.low), quotient(a.low, b.high), quotient(a.high, b.low), quotient(a.high, b.high)},
             a.may_be_infinite() && b.may_be_infinite());
  return is_float(a.type) ? exact : whole(exact);
}

Interval raised(const ValueRange& a, const ValueRange& b) {
  if (b.low == b.high && b.low == std::trunc(b.low) && b.low > 0 && std::isfinite(b.low) && !b.may_be_nan) {
    const double low = std::pow(a.low, b.low);
    const double high = std::pow(a.high, b.low);
    if (std::fmod(b.low, 2) != 0) return {low, high};
    return {has_zero(a) ? 0 : std::min(low, high), std::max(low, high)};
  }
  if (a.low > 0 || (a.low >= 0 && b.low >= 0)) {
    const Interval exact = around(
        {1.0, std::pow(a.low, b.low), std::pow(a.low, b.high), std::pow(a.high, b.low), std::pow(a.high, b.high)});
    return is_float(a.type) ? exact : whole(exact);
  }
  return {-kInfinite, kInfinite, a.low < 0};
}

Interval remainder(const Node& node, const ValueRange& a, const ValueRange& b) {
  const Attribute* fmod = node.find("fmod");
  const bool is_of_dividend = fmod != nullptr && fmod->integer.value_or(0) != 0;
  const double far = is_of_dividend ? std::min(a.largest(), b.largest()) : b.largest();
  return {a.low < 0 || b.low < 0 ? -far : 0, far, is_float(a.type) && (a.may_be_infinite() || has_zero(b))};
}

// For a function that is monotone between its turning points: its values at the ends and at those points.
Interval through(const ValueRange& x, const std::function<double(double)>& f,
                 std::initializer_list<double> turns = {}) {
  Interval made = around({f(x.low), f(x.high)});
  for (const double turn : turns) {
    if (turn <= x.low || turn >= x.high) continue;
    made.low = std::min(made.low, f(turn));
    made.high = std::max(made.high, f(turn));
  }
  return made;
}

// For a function with a domain: outside of it the result is NaN.
Interval within(const ValueRange& x, double from, double to, const std::function<double(double)>& f) {
  ValueRange inside = x;
  inside.low = std::clamp(x.low, from, to);
  inside.high = std::clamp(x.high, from, to);
  Interval made = through(inside, f);
  made.nan = x.low < from || x.high > to;
  return made;
}

// The lowest number of an integer type has no positive counterpart. A double cannot distinguish that counterpart from
// the highest 64-bit integer, so the limit is moved.
Interval beyond_lowest(const ValueRange& x, Interval made) {
  if (!is_float(x.type) && x.low < 0 && x.low <= lowest_of(x.type)) made.high = std::nextafter(made.high, kInfinite);
  return made;
}

// Scaled above 0; below 0 at most `below` away from 0, with the same sign.
Interval exponential_unit(const ValueRange& x, double scale, double below) {
  const double far = limit_product(std::max(x.high, 0.0), scale);
  const double under = x.low < 0 ? -below : 0;
  return around({0.0, far, under}, scale == 0 && x.high == kInfinite);
}

std::optional<Interval> activation(const Node& node, const ValueRange& x) {
  const std::string_view op = node.op;
  if (op == "Relu") return through(x, [](double v) { return std::max(v, 0.0); });
  if (op == "Elu") return exponential_unit(x, 1, number_of(node, "alpha", 1));
  if (op == "Selu") {
    const double gamma = number_of(node, "gamma", 1.05070102214813232421875);
    return exponential_unit(x, gamma, gamma * number_of(node, "alpha", 1.67326319217681884765625));
  }
  if (op == "Celu") {
    const double alpha = number_of(node, "alpha", 1);
    if (!(alpha > 0)) return Interval{-kInfinite, kInfinite, true};
    return exponential_unit(x, 1, alpha);
  }
  if (op == "LeakyRelu" || op == "ThresholdedRelu" || op == "Shrink") {
    const double alpha = op == "LeakyRelu" ? number_of(node, "alpha", 0.01) : 1;
    const double bias = op == "Shrink" ? std::abs(number_of(node, "bias", 0)) : 0;
    const double far = std::max(1.0, std::abs(alpha)) * x.largest() + bias;
    return Interval{x.low < 0 || bias > 0 ? -far : 0, far, alpha == 0 && x.low == -kInfinite};
  }
  if (op == "Softplus") return Interval{0, std::max(x.high, 0.0) + 1};
  if (op == "Gelu" || op == "Mish" || op == "HardSwish") {
    return Interval{-0.4, std::max(x.high, 0.0), x.low == -kInfinite};
  }
  if (op == "Swish") return Interval{-x.largest(), std::max(x.high, 0.0), x.may_be_infinite()};
  return std::nullopt;
}

// Infinity of infinity, which a tensor of unknown type may have.
double power_of_two_beyond(double number) {
  return std::isinf(number) ? kInfinite : std::exp2(std::ilogb(std::max(number, 1.0)) + 1);
}

// The number of terms along one dimension.
double terms_in(std::int64_t size) {
  return size < 0 ? kTermsMax : static_cast<double>(size);
}

double terms_of_einsum(const Node& node, const ValueRange& a, const ValueRange& b) {
  const Attribute* attribute = node.find("equation");
  const std::string_view equation = attribute != nullptr ? std::string_view(attribute->text) : std::string_view();
  const std::size_t arrow = equation.find("->");
  const std::size_t comma = equation.find(',');
  if (equation.find('.') != std::string_view::npos || comma == std::string_view::npos) return kTermsMax * kTermsMax;
  double terms = 1;
  std::array<bool, 256> seen{};
  const auto take = [&](std::string_view labels, const ValueRange& range) {
    std::size_t place = 0;
    for (const char label : labels) {
      if (label == ' ') continue;
      const std::size_t dimension = place++;
      const bool stays =
          arrow != std::string_view::npos && equation.substr(arrow).find(label) != std::string_view::npos;
      if (stays || std::exchange(seen[static_cast<unsigned char>(label)], true)) continue;
      terms *= range.has_shape && dimension < range.shape.size() ? terms_in(range.shape[dimension]) : kTermsMax;
    }
  };
  take(equation.substr(0, comma), a);
  take(equation.substr(comma + 1, arrow == std::string_view::npos ? arrow : arrow - comma - 1), b);
  return terms;
}

// Returns the number of terms in the longest sum of a product.
double terms_of(const Node& node, const ValueRange& a, const ValueRange& b) {
  if (node.op == "Einsum") return terms_of_einsum(node, a, b);
  const ValueRange& weights = b.has_shape ? b : a;
  if (!weights.has_shape) return kTermsMax;
  double terms = 1;
  const std::size_t rank = weights.shape.size();
  if (node.op.find("Conv") != std::string::npos) {
    for (std::size_t i = node.op == "ConvTranspose" ? 0 : 1; i < rank; ++i)
      terms *= terms_in(weights.shape[i]);
    return terms;
  }
  const auto take = [&](std::int64_t size) { terms = std::max(terms, terms_in(size)); };
  if (rank >= 1 && (rank == 1 || node.op == "Gemm")) take(weights.shape[rank - 1]);
  if (rank >= 2) take(weights.shape[&weights == &b || node.op == "Gemm" ? rank - 2 : rank - 1]);
  return terms;
}

}  // namespace

double limit_product(double a, double b) {
  return a == 0 || b == 0 ? 0 : a * b;
}

double number_of(const Node& node, std::string_view name, double otherwise) {
  const Attribute* attribute = node.find(name);
  return attribute != nullptr && attribute->number ? *attribute->number : otherwise;
}

double elements_of(const ValueRange& range) {
  double count = 1;
  bool is_known = range.has_shape;
  for (const std::int64_t size : range.shape) {
    if (size < 0) is_known = false;
    if (size > 0) count *= static_cast<double>(size);
  }
  return is_known ? count : std::max(count, kSizeMax);
}

std::optional<Interval> unary_interval(const Node& node, const ValueRange& x) {
  const std::string_view op = node.op;
  if (op == "Abs") return beyond_lowest(x, through(x, [](double v) { return std::abs(v); }, {0}));
  if (op == "Neg") return beyond_lowest(x, through(x, [](double v) { return -v; }));
  if (op == "Ceil" || op == "Floor" || op == "Round") return Interval{std::floor(x.low), std::ceil(x.high)};
  if (op == "Sign") return Interval{x.low < 0 ? -1.0 : 0, x.high > 0 ? 1.0 : 0};
  if (op == "Exp") return through(x, [](double v) { return std::exp(v); });
  if (op == "Log") return within(x, 0, kInfinite, [](double v) { return std::log(v); });
  if (op == "Sqrt") return within(x, 0, kInfinite, [](double v) { return std::sqrt(v); });
  if (op == "Acos") return within(x, -1, 1, [](double v) { return std::acos(v); });
  if (op == "Asin") return within(x, -1, 1, [](double v) { return std::asin(v); });
  if (op == "Atanh") return within(x, -1, 1, [](double v) { return std::atanh(v); });
  if (op == "Acosh") return within(x, 1, kInfinite, [](double v) { return std::acosh(v); });
  if (op == "Asinh") return through(x, [](double v) { return std::asinh(v); });
  if (op == "Atan") return Interval{-1.6, 1.6};
  if (op == "Sinh") return through(x, [](double v) { return std::sinh(v); });
  if (op == "Cosh") return through(x, [](double v) { return std::cosh(v); }, {0});
  if (op == "Erf" || op == "Tanh") return Interval{-1, 1};
  if (op == "LpNormalization" || op == "Softsign" || op == "Sin" || op == "Cos")
    return Interval{-1, 1, x.may_be_infinite()};
  if (op == "Tan") return Interval{-kInfinite, kInfinite, x.may_be_infinite()};
  if (op == "HardSigmoid") return Interval{0, 1, number_of(node, "alpha", 0.2F) == 0 && x.may_be_infinite()};
  if (op == "Sigmoid" || op == "Hardmax") return Interval{0, 1};
  // A mask of -infinity is assumed to leave something of each row.
  if (op == "Softmax") return Interval{0, 1, x.high == kInfinite};
  if (op == "LogSoftmax") return Interval{-kInfinite, 0, x.may_be_infinite()};
  if (op == "Reciprocal") {
    if (has_zero(x)) return Interval{-kInfinite, kInfinite};
    return through(x, [](double v) { return 1 / v; });
  }
  if (op == "BitwiseNot") return Interval{lowest_of(x.type), highest_of(x.type)};
  return activation(node, x);
}

std::optional<Interval> binary_interval(const Node& node, const ValueRange& a, const ValueRange& b) {
  const std::string_view op = node.op;
  const bool sum_is_nan = (a.high == kInfinite && b.low == -kInfinite) || (a.low == -kInfinite && b.high == kInfinite);
  const bool may_be_nan = is_float(a.type) && sum_is_nan;
  const bool is_whole = !is_float(a.type);
  if (op == "Add" || op == "Sum") {
    if (is_whole) return Interval{sum(a.low, b.low, -kInfinite), sum(a.high, b.high, kInfinite)};
    return Interval{a.low + b.low, a.high + b.high, may_be_nan};
  }
  if (op == "Sub") {
    if (is_whole) return Interval{sum(a.low, -b.high, -kInfinite), sum(a.high, -b.low, kInfinite)};
    const bool nan = (a.high == kInfinite && b.high == kInfinite) || (a.low == -kInfinite && b.low == -kInfinite);
    return Interval{a.low - b.high, a.high - b.low, nan};
  }
  if (op == "Mul") {
    Interval made = times(a, b);
    // The product is a square.
    if (a.id != 0 && a.id == b.id) made.low = std::max(made.low, 0.0);
    return made;
  }
  if (op == "Div") return divided(a, b);
  if (op == "Pow") return raised(a, b);
  if (op == "Mod") return remainder(node, a, b);
  if (op == "Max") return Interval{std::max(a.low, b.low), std::max(a.high, b.high)};
  if (op == "Min") return Interval{std::min(a.low, b.low), std::min(a.high, b.high)};
  if (op == "Mean") return Interval{std::min(a.low, b.low), std::max(a.high, b.high), may_be_nan};
  if (op == "PRelu") {
    ValueRange below = a;
    below.low = std::min(a.low, 0.0);
    below.high = std::min(a.high, 0.0);
    const Interval scaled = times(below, b);
    return Interval{std::min(0.0, scaled.low), std::max({0.0, a.high, scaled.high}), scaled.nan};
  }
  if (op == "BitShift") {
    const Attribute* direction = node.find("direction");
    if (direction != nullptr && direction->text == "RIGHT") return Interval{0, a.high};
    return Interval{0, a.high * std::exp2(std::min(b.high, 64.0))};
  }
  if (op == "BitwiseAnd" || op == "BitwiseOr" || op == "BitwiseXor") {
    const double beyond = power_of_two_beyond(std::max(a.largest(), b.largest()));
    if (a.low < 0 || b.low < 0)
      return Interval{std::max(-beyond, lowest_of(a.type)), std::min(beyond, highest_of(a.type))};
    if (op == "BitwiseAnd") return Interval{0, std::min(a.high, b.high)};
    return Interval{0, std::min(beyond - 1, highest_of(a.type))};
  }
  return std::nullopt;
}

namespace {

// Returns the number of terms in the longest sum: all elements, or those along the axis if there is one.
double count_along(const ValueRange& x, const ValueRange* axes) {
  const double all = std::max(1.0, elements_of(x));
  if (axes == nullptr || axes->low != axes->high || axes->may_be_empty) return all;
  const auto rank = static_cast<double>(x.shape.size());
  const double place = axes->low < 0 ? axes->low + rank : axes->low;
  if (!x.has_shape || place < 0 || place >= rank) return std::min(all, kSizeMax);
  const std::int64_t size = x.shape[static_cast<std::size_t>(place)];
  return std::min(all, size < 0 ? kSizeMax : std::max(1.0, static_cast<double>(size)));
}

}  // namespace

std::optional<Interval> reduced_interval(const Node& node, const ValueRange& x, const ValueRange* axes) {
  const std::string_view op = node.op;
  const double count = count_along(x, axes);
  const double far = limit_product(x.largest(), count);
  const double squares = limit_product(far, x.largest());
  const auto exact = [&]() -> std::optional<Interval> {
    if (op == "ReduceSum" || op == "CumSum") {
      return Interval{std::min(0.0, limit_product(x.low, count)), std::max(0.0, limit_product(x.high, count)),
                      x.low == -kInfinite && x.high == kInfinite};
    }
    if (op == "ReduceL1") return Interval{0, far};
    // The squares may overflow before the root is taken.
    if (op == "ReduceL2") return Interval{0, squares > largest_finite(x.type) ? kInfinite : far};
    if (op == "LpPool" || op == "GlobalLpPool") return Interval{0, squares > largest_finite(x.type) ? kInfinite : far};
    if (op == "ReduceSumSquare") return Interval{0, squares};
    if (op == "ReduceLogSumExp") {
      const bool is_far = x.high > kExpMax;
      const double low = x.low < -kExpMax || x.may_be_empty ? -kInfinite : x.low;
      return Interval{low, is_far ? kInfinite : x.high + std::log(count) + 1, is_far};
    }
    if (op == "ReduceLogSum") return Interval{-kInfinite, far > 0 ? std::log(far) : 0, x.low < 0};
    if (op == "ReduceProd" || op == "CumProd") {
      const double most = std::pow(std::max(1.0, x.largest()), count);
      return Interval{x.low < 0 ? -most : 0, most, is_float(x.type) && most > largest_finite(x.type)};
    }
    if (op == "Det") return Interval{-kInfinite, kInfinite, true};
    return std::nullopt;
  };
  std::optional<Interval> made = exact();
  const Attribute* noop = node.find("noop_with_empty_axes");
  if (made && noop != nullptr && noop->integer.value_or(0) != 0) {
    // Without axes the output is the input.
    made->low = std::min(made->low, x.low);
    made->high = std::max(made->high, x.high);
  }
  return made && !is_float(x.type) ? whole(*made) : made;
}

Interval product_interval(const Node& node, std::span<const ValueRange* const> inputs) {
  const bool is_einsum = node.op == "Einsum";
  const auto given = [&](std::size_t place) { return place < inputs.size() ? inputs[place] : nullptr; };
  if (given(0) == nullptr || given(1) == nullptr || (is_einsum && inputs.size() > 2)) {
    return {-kInfinite, kInfinite, true};
  }
  const ValueRange& a = *inputs[0];
  const ValueRange& b = *inputs[1];
  const auto largest = [&](std::size_t place) { return given(place) != nullptr ? given(place)->largest() : 0; };
  // Zero points are subtracted first.
  const bool has_points = node.op == "MatMulInteger" || node.op == "ConvInteger";
  double far = limit_product(a.largest() + (has_points ? largest(2) : 0), b.largest() + (has_points ? largest(3) : 0));
  far = limit_product(far, terms_of(node, a, b));
  bool nan = times(a, b).nan || std::isinf(far);
  if (node.op == "Gemm") {
    far = limit_product(far, std::abs(number_of(node, "alpha", 1))) +
          limit_product(largest(2), std::abs(number_of(node, "beta", 1)));
  } else if (node.op == "Conv" || node.op == "ConvTranspose") {
    far += largest(2);
  }
  nan = nan || std::isinf(far);
  if (!is_float(a.type)) return {-far, far};
  // Layers keep ordinary numbers ordinary. So do products of two tensors that the network computes; products of two
  // inputs that a caller gives stay below that limit.
  const double most = std::max(a.largest(), b.largest());
  const bool is_layer = (a.may_be_folded || b.may_be_folded) && most <= std::exp2(100);
  const bool is_made = most <= std::exp2(56) && (far > std::exp2(80) || a.type == core::ElementType::kF16);
  if (!nan && (is_layer || is_made)) far = std::min(far, ordinary_max(a.type));
  if (far > largest_finite(core::ElementType::kF32)) return {-kInfinite, kInfinite, true};
  return {-far, far, nan};
}

}  // namespace latebind::onnx
