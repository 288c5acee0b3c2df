// Random chains of operators, computed in f32 and in 64-bit integers by what ONNX says of each: every number is within
// the range that was worked out for it.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "core/onnx/value_range.h"

namespace latebind::onnx {
namespace {

using core::ElementType;
using Numbers = std::vector<double>;

constexpr std::size_t kCount = 4;

struct Operator {
  std::string op;
  std::size_t inputs;
  // Of elements, one of each input.
  std::function<double(const Numbers&)> each;
  // Of the first tensor, where it is no such.
  std::function<Numbers(const Numbers&)> whole{};
  Attributes attributes{};
  ElementType type = ElementType::kF32;
};

Attribute attribute_of(double number) {
  Attribute made;
  made.number = static_cast<float>(number);
  made.integer = static_cast<std::int64_t>(number);
  return made;
}

double propagating(double a, double b, bool is_max) {
  if (std::isnan(a) || std::isnan(b)) return std::nan("");
  return is_max ? std::max(a, b) : std::min(a, b);
}

std::int64_t modulo(std::int64_t a, std::int64_t b) {
  const std::int64_t rest = a % b;
  return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}

Numbers all(double number) {
  return Numbers(kCount, number);
}

double folded(const Numbers& x, const std::function<double(double, double)>& step) {
  double made = x[0];
  for (std::size_t i = 1; i < x.size(); ++i)
    made = step(made, x[i]);
  return made;
}

std::vector<Operator> float_operators() {
  const auto unary = [](const std::string& op, double (*f)(double), const Attributes& attributes = {}) {
    return Operator{op, 1, [f](const Numbers& x) { return f(x[0]); }, {}, attributes};
  };
  const auto binary = [](const std::string& op, double (*f)(double, double), const Attributes& attributes = {}) {
    return Operator{op, 2, [f](const Numbers& x) { return f(x[0], x[1]); }, {}, attributes};
  };
  const auto whole = [](const std::string& op, std::function<Numbers(const Numbers&)> f) {
    return Operator{op, 1, {}, std::move(f)};
  };
  return {
      unary("Abs", [](double x) { return std::abs(x); }),
      unary("Neg", [](double x) { return -x; }),
      unary("Relu", [](double x) { return std::isnan(x) ? x : std::max(x, 0.0); }),
      unary("Exp", [](double x) { return std::exp(x); }),
      unary("Log", [](double x) { return std::log(x); }),
      unary("Sqrt", [](double x) { return std::sqrt(x); }),
      unary("Reciprocal", [](double x) { return 1 / x; }),
      unary("Floor", [](double x) { return std::floor(x); }),
      unary("Ceil", [](double x) { return std::ceil(x); }),
      unary("Round", [](double x) { return std::nearbyint(x); }),
      unary("Sign", [](double x) { return std::isnan(x) ? x : static_cast<double>((x > 0) - (x < 0)); }),
      unary("Sigmoid", [](double x) { return 1 / (1 + std::exp(-x)); }),
      unary("Tanh", [](double x) { return std::tanh(x); }),
      unary("Erf", [](double x) { return std::erf(x); }),
      unary("Sin", [](double x) { return std::sin(x); }),
      unary("Acos", [](double x) { return std::acos(x); }),
      unary("Acosh", [](double x) { return std::acosh(x); }),
      unary("Atanh", [](double x) { return std::atanh(x); }),
      unary("Cosh", [](double x) { return std::cosh(x); }),
      unary("Sinh", [](double x) { return std::sinh(x); }),
      unary("Softplus", [](double x) { return x > 30 ? x : std::log1p(std::exp(x)); }),
      unary("Softsign", [](double x) { return x / (1 + std::abs(x)); }),
      unary("HardSwish", [](double x) { return x * std::max(0.0, std::min(1.0, x / 6 + 0.5)); }),
      unary("Gelu", [](double x) { return x * 0.5 * (1 + std::erf(x / std::sqrt(2.0))); }),
      unary("Mish", [](double x) { return x * std::tanh(x > 30 ? x : std::log1p(std::exp(x))); }),
      unary("Elu", [](double x) { return x < 0 ? -2 * std::expm1(x) : x; }, {{"alpha", attribute_of(-2)}}),
      unary("Selu", [](double x) { return -3 * (x < 0 ? 2 * std::expm1(x) : x); },
            {{"alpha", attribute_of(2)}, {"gamma", attribute_of(-3)}}),
      unary("LeakyRelu", [](double x) { return x < 0 ? -3 * x : x; }, {{"alpha", attribute_of(-3)}}),
      unary("Shrink", [](double x) { return x < -0.5        ? x + 2
                                            : x > 0.5       ? x - 2
                                            : std::isnan(x) ? x
                                                            : 0; },
            {{"bias", attribute_of(2)}}),
      binary("Add", [](double a, double b) { return a + b; }),
      binary("Sub", [](double a, double b) { return a - b; }),
      binary("Mul", [](double a, double b) { return a * b; }),
      binary("Div", [](double a, double b) { return a / b; }),
      binary("Pow", [](double a, double b) { return std::pow(a, b); }),
      binary("Mod", [](double a, double b) { return std::fmod(a, b); }, {{"fmod", attribute_of(1)}}),
      binary("Max", [](double a, double b) { return propagating(a, b, true); }),
      binary("Min", [](double a, double b) { return propagating(a, b, false); }),
      binary("PRelu", [](double a, double b) { return a < 0 ? a * b : a; }),
      {"Mean", 3, [](const Numbers& x) { return (x[0] + x[1] + x[2]) / 3; }},
      {"Sum", 3, [](const Numbers& x) { return x[0] + x[1] + x[2]; }},
      {"Clip", 3, [](const Numbers& x) { return propagating(propagating(x[0], x[1], true), x[2], false); }},
      whole("ReduceSum", [](const Numbers& x) { return all(folded(x, std::plus<>())); }),
      whole(
          "ReduceMax",
          [](const Numbers& x) { return all(folded(x, [](double a, double b) { return propagating(a, b, true); })); }),
      whole("ReduceMean", [](const Numbers& x) { return all(folded(x, std::plus<>()) / kCount); }),
      whole("ReduceProd", [](const Numbers& x) { return all(folded(x, std::multiplies<>())); }),
      whole("ReduceL1",
            [](const Numbers& x) {
              return all(folded(x, [](double a, double b) { return std::abs(a) + std::abs(b); }) *
                         (x.size() > 1 ? 1 : 0));
            }),
      whole("ReduceLogSum", [](const Numbers& x) { return all(std::log(folded(x, std::plus<>()))); }),
      whole("Softmax",
            [](const Numbers& x) {
              const double most = folded(x, [](double a, double b) { return propagating(a, b, true); });
              double sum = 0;
              for (const double one : x)
                sum += std::exp(one - most);
              Numbers made;
              for (const double one : x)
                made.push_back(std::exp(one - most) / sum);
              return made;
            }),
      whole("CumSum",
            [](const Numbers& x) {
              Numbers made = x;
              for (std::size_t i = 1; i < x.size(); ++i)
                made[i] += made[i - 1];
              return made;
            }),
  };
}

std::vector<Operator> integer_operators() {
  const auto unsigned_of = [](double x) { return static_cast<std::uint64_t>(static_cast<std::int64_t>(x)); };
  const auto binary = [=](const std::string& op, auto f) {
    return Operator{op,
                    2,
                    [=](const Numbers& x) {
                      return static_cast<double>(static_cast<std::int32_t>(f(unsigned_of(x[0]), unsigned_of(x[1]))));
                    },
                    {},
                    {},
                    ElementType::kI32};
  };
  const auto part = [](std::uint64_t x) { return static_cast<std::int32_t>(x); };
  return {
      binary("Add", [](std::uint64_t a, std::uint64_t b) { return a + b; }),
      binary("Sub", [](std::uint64_t a, std::uint64_t b) { return a - b; }),
      binary("Mul", [](std::uint64_t a, std::uint64_t b) { return a * b; }),
      binary("BitwiseAnd", [](std::uint64_t a, std::uint64_t b) { return a & b; }),
      binary("BitwiseOr", [](std::uint64_t a, std::uint64_t b) { return a | b; }),
      binary("BitwiseXor", [](std::uint64_t a, std::uint64_t b) { return a ^ b; }),
      binary("Max", [=](std::uint64_t a, std::uint64_t b) { return std::max(part(a), part(b)); }),
      binary("Min", [=](std::uint64_t a, std::uint64_t b) { return std::min(part(a), part(b)); }),
      binary("Div",
             [=](std::uint64_t a, std::uint64_t b) -> std::int64_t {
               return part(b) == 0 ? 0 : static_cast<std::int64_t>(part(a)) / part(b);
             }),
      binary("Mod",
             [=](std::uint64_t a, std::uint64_t b) -> std::int64_t {
               return part(b) == 0 ? 0 : modulo(part(a), part(b));
             }),
      {"Neg",
       1,
       [=](const Numbers& x) { return static_cast<double>(static_cast<std::int32_t>(0 - unsigned_of(x[0]))); },
       {},
       {},
       ElementType::kI32},
      {"Abs",
       1,
       [=](const Numbers& x) {
         return static_cast<double>(static_cast<std::int32_t>(x[0] < 0 ? 0 - unsigned_of(x[0]) : unsigned_of(x[0])));
       },
       {},
       {},
       ElementType::kI32},
      {"Sign",
       1,
       [](const Numbers& x) { return static_cast<double>((x[0] > 0) - (x[0] < 0)); },
       {},
       {},
       ElementType::kI32},
  };
}

class Chain {
 public:
  explicit Chain(unsigned seed) : random_(seed) {}

  // Which operator gives a number that is not in its range, "" where none does.
  std::string computed(const std::vector<Operator>& operators, ElementType type) {
    std::vector<ValueRange> ranges;
    std::vector<std::vector<Numbers>> values;  // of each tensor, several
    for (std::size_t i = 0; i < 3; ++i) {
      ranges.push_back(given(type));
      values.emplace_back();
      for (std::size_t trial = 0; trial < 6; ++trial)
        values.back().push_back(within(ranges.back()));
    }
    std::string story;
    for (std::size_t step = 0; step < 5; ++step) {
      const Operator& one = operators[random_() % operators.size()];
      Node node;
      node.op = one.op;
      node.attributes = one.attributes;
      node.outputs = {"y"};
      std::vector<std::size_t> places;
      std::vector<const ValueRange*> inputs;
      for (std::size_t i = 0; i < one.inputs; ++i) {
        places.push_back(random_() % ranges.size());
        inputs.push_back(&ranges[places.back()]);
        node.inputs.emplace_back("x");
      }
      ValueRange made = ranges_after(node, inputs).front();
      made.has_shape = true;
      made.shape = {kCount};
      story += " " + one.op;
      std::vector<Numbers> computed;
      for (std::size_t trial = 0; trial < values[0].size(); ++trial) {
        computed.push_back(result_of(one, places, values, trial));
        for (const double number : computed.back()) {
          if (holds(made, number)) continue;
          return story + ": " + std::to_string(number) + " is not from " + std::to_string(made.low) + " to " +
                 std::to_string(made.high);
        }
      }
      ranges.push_back(std::move(made));
      values.push_back(std::move(computed));
    }
    return {};
  }

 private:
  static bool holds(const ValueRange& range, double number) {
    if (std::isnan(number)) return range.may_be_nan;
    // Sums are rounded at each step.
    const double slack = is_float(range.type) ? 1e-5 : 0;
    const auto about = [&](double limit) { return std::isinf(limit) ? 0 : std::abs(limit) * slack + slack * 1e-30; };
    return number >= range.low - about(range.low) && number <= range.high + about(range.high);
  }

  static Numbers result_of(const Operator& one, const std::vector<std::size_t>& places,
                           const std::vector<std::vector<Numbers>>& values, std::size_t trial) {
    Numbers made;
    if (one.whole) {
      made = one.whole(values[places[0]][trial]);
    } else {
      for (std::size_t i = 0; i < kCount; ++i) {
        Numbers elements;
        for (const std::size_t place : places)
          elements.push_back(values[place][trial][i]);
        made.push_back(one.each(elements));
      }
    }
    if (one.type == ElementType::kF32) {
      for (double& number : made)
        number = static_cast<float>(number);
    }
    return made;
  }

  double limit() {
    constexpr std::array<double, 14> kLimits{0,   1,    -1,     0.5,  -0.5,          2,  3, -3,
                                             100, -100, 70'000, -1e9, 2'147'483'647, 4e9};
    return kLimits[random_() % kLimits.size()];
  }

  ValueRange given(ElementType type) {
    ValueRange range = ValueRange::any(type);
    if (random_() % 5 != 0) {
      const auto in_type = [&](double number) { return std::clamp(number, lowest_of(type), highest_of(type)); };
      double low = in_type(limit());
      double high = in_type(random_() % 3 == 0 ? low : limit());
      if (!is_float(type)) {
        low = std::trunc(low);
        high = std::trunc(high);
      } else {
        low = static_cast<float>(low);
        high = static_cast<float>(high);
      }
      range = ValueRange::between(type, std::min(low, high), std::max(low, high));
    }
    range.has_shape = true;
    range.shape = {kCount};
    range.may_be_empty = false;
    return range;
  }

  Numbers within(const ValueRange& range) {
    const bool has_float = is_float(range.type);
    Numbers made;
    while (made.size() < kCount) {
      const auto choice = random_() % 6;
      double number = 0;
      if (choice == 0) number = range.low;
      if (choice == 1) number = range.high;
      if (choice == 2 && range.may_be_nan) number = std::nan("");
      if (choice == 3) number = limit();
      if (choice > 3) {
        const double low = std::max(range.low, -1e10);
        number = low + (std::min(range.high, 1e10) - low) * static_cast<double>(random_() % 1001) / 1000;
        number = has_float ? static_cast<float>(number) : std::trunc(number);
      }
      if (!has_float) number = std::trunc(number);
      if (!std::isnan(number)) number = std::clamp(number, range.low, range.high);
      made.push_back(number);
    }
    return made;
  }

  std::mt19937 random_;
};

TEST(RangesPropertyTest, EveryNumberOfRandomChainsIsWithinItsRange) {
  for (unsigned seed = 0; seed < 8'000; ++seed) {
    EXPECT_EQ(Chain(seed).computed(float_operators(), ElementType::kF32), "") << "seed " << seed;
    EXPECT_EQ(Chain(seed).computed(integer_operators(), ElementType::kI32), "") << "seed " << seed;
    if (HasFailure()) return;
  }
}

}  // namespace
}  // namespace latebind::onnx
