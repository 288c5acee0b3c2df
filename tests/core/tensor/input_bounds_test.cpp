#include "core/tensor/input_bounds.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <vector>

namespace latebind::core {
namespace {

using ::testing::HasSubstr;
using Bound = InputBounds::Bound;

constexpr double kNoLimit = std::numeric_limits<double>::infinity();

// One input "x" of this type.
template <class Number>
Status checked(ElementType type, const Bound& bound, std::vector<Number> numbers) {
  const std::vector<TensorInfo> declared{{"x", type, {kDynamic}}};
  const auto bounds = InputBounds::of(declared, 1, std::span(&bound, 1), "a:CPU");
  TensorView view;
  view.data = numbers.data();
  view.type = type;
  view.shape = {static_cast<std::int64_t>(numbers.size())};
  return bounds.check(std::span(&view, 1));
}

Bound up_to(double most) {
  return {"x", 0, -most, most, false, false, false};
}

Bound from(double low, double high) {
  return {"x", 0, low, high, true, true, true};
}

std::uint16_t upper_half(float number) {
  std::uint32_t bits = 0;
  std::memcpy(&bits, &number, sizeof bits);
  return static_cast<std::uint16_t>(bits >> 16U);
}

TEST(InputBoundsTest, FloatingPointNumbersAreTakenUpToTheBoundOnBothSides) {
  const auto f32 = [](float number) { return checked<float>(ElementType::kF32, up_to(1000), {0, number}).ok(); };
  const auto f64 = [](double number) { return checked<double>(ElementType::kF64, up_to(1000), {0, number}).ok(); };
  const auto bf16 = [](float number) {
    return checked<std::uint16_t>(ElementType::kBF16, up_to(1000), {0, upper_half(number)}).ok();
  };
  const auto f16 = [](std::uint16_t bits) {
    return checked<std::uint16_t>(ElementType::kF16, up_to(1000), {0, bits}).ok();
  };
  const float next = std::nextafterf(1000, 2000);
  for (const float sign : {1.0F, -1.0F}) {
    EXPECT_TRUE(f32(sign * 1000) && f64(sign * 1000.0) && bf16(sign * 1000));
    EXPECT_FALSE(f32(sign * next) || f64(sign * std::nextafter(1000.0, 2000.0)) || bf16(sign * 1004));
    EXPECT_FALSE(f32(sign * std::numeric_limits<float>::infinity()) || f64(sign * kNoLimit) ||
                 bf16(sign * std::numeric_limits<float>::infinity()));
  }
  EXPECT_TRUE(f16(0x63D0) && f16(0xE3D0));   // ±1000
  EXPECT_FALSE(f16(0x63D1) || f16(0xE3D1));  // ±1000.5
  EXPECT_FALSE(f16(0x7C00) || f16(0xFC00));  // ±infinity
  // 0 with a sign is 0.
  EXPECT_TRUE(f32(-0.0F) && f64(-0.0) && f16(0x8000) && bf16(-0.0F));
}

TEST(InputBoundsTest, ABoundThatTheTypeDoesNotHaveIsRoundedDown) {
  const float above = std::nextafterf(16'777'216, 2e9F);
  EXPECT_TRUE(checked<float>(ElementType::kF32, up_to(16'777'217), {16'777'216}).ok());
  EXPECT_FALSE(checked<float>(ElementType::kF32, up_to(16'777'217), {above}).ok());
  EXPECT_TRUE(checked<float>(ElementType::kF32, up_to(1e300), {std::numeric_limits<float>::max()}).ok());
  EXPECT_FALSE(checked<float>(ElementType::kF32, up_to(1e300), {std::numeric_limits<float>::infinity()}).ok());
}

TEST(InputBoundsTest, NanAndSubnormalNumbersAreTakenWhereTheBoundSaysSo) {
  const auto both = [](auto number, ElementType type) {
    using Number = decltype(number);
    Bound bound = up_to(1000);
    const bool before = checked<Number>(type, bound, {number}).ok();
    bound.may_be_nan = bound.may_be_subnormal = true;
    return std::pair(before, checked<Number>(type, bound, {number}).ok());
  };
  const std::pair only_where_allowed(false, true);
  EXPECT_EQ(both(std::nanf(""), ElementType::kF32), only_where_allowed);
  EXPECT_EQ(both(-std::nanf(""), ElementType::kF32), only_where_allowed);
  EXPECT_EQ(both(1e-40F, ElementType::kF32), only_where_allowed);
  EXPECT_EQ(both(std::nan(""), ElementType::kF64), only_where_allowed);
  EXPECT_EQ(both(-1e-310, ElementType::kF64), only_where_allowed);
  // It would be one in f32, as which devices compute it.
  EXPECT_EQ(both(1e-40, ElementType::kF64), only_where_allowed);
  EXPECT_EQ(both(std::uint16_t{0x7C01}, ElementType::kF16), only_where_allowed);
  EXPECT_EQ(both(std::uint16_t{0x83FF}, ElementType::kF16), only_where_allowed);
  EXPECT_EQ(both(std::uint16_t{0x7F81}, ElementType::kBF16), only_where_allowed);
  EXPECT_EQ(both(std::uint16_t{0x007F}, ElementType::kBF16), only_where_allowed);
  const std::pair always(true, true);
  EXPECT_EQ(both(std::numeric_limits<float>::min(), ElementType::kF32), always);
  EXPECT_EQ(both(static_cast<double>(std::numeric_limits<float>::min()), ElementType::kF64), always);
  EXPECT_EQ(both(std::uint16_t{0x0400}, ElementType::kF16), always);
  EXPECT_EQ(both(std::uint16_t{0x0080}, ElementType::kBF16), always);
}

TEST(InputBoundsTest, WithoutALimitInfinityIsTakenAndNanOnlyWhereItMayBe) {
  Bound bound = from(-kNoLimit, kNoLimit);
  const auto takes = [&](float number) { return checked<float>(ElementType::kF32, bound, {number}).ok(); };
  EXPECT_TRUE(takes(std::numeric_limits<float>::infinity()) && takes(std::nanf("")) && takes(1e-40F));
  bound.may_be_nan = false;
  EXPECT_TRUE(takes(-std::numeric_limits<float>::infinity()) && takes(3e38F));
  EXPECT_FALSE(takes(std::nanf("")));
}

template <class Number>
void check_integers(ElementType type) {
  using Limits = std::numeric_limits<Number>;
  const double low = Limits::is_signed ? -5 : 0;
  const auto takes = [&](Number number, const Bound& bound) { return checked<Number>(type, bound, {number}).ok(); };
  EXPECT_TRUE(takes(7, from(low, 7)) && takes(static_cast<Number>(low), from(low, 7)));
  EXPECT_FALSE(takes(8, from(low, 7)) || takes(Limits::max(), from(low, 7)));
  if (Limits::is_signed) {
    EXPECT_FALSE(takes(static_cast<Number>(-6), from(low, 7)) || takes(Limits::min(), from(low, 7)));
  }
  EXPECT_TRUE(takes(Limits::max(), from(-kNoLimit, kNoLimit)) && takes(Limits::min(), from(-kNoLimit, kNoLimit)));
  // None of the type is within them.
  EXPECT_FALSE(takes(0, from(1e30, 1e31)) || takes(0, from(-1e31, -1e30)) || takes(0, from(1, -1)));
}

TEST(InputBoundsTest, IntegersOf32And64BitsAreTakenFromTheLowestToTheHighest) {
  check_integers<std::int32_t>(ElementType::kI32);
  check_integers<std::uint32_t>(ElementType::kU32);
  check_integers<std::int64_t>(ElementType::kI64);
  check_integers<std::uint64_t>(ElementType::kU64);
  EXPECT_FALSE(checked<std::int64_t>(ElementType::kI64, from(-2147483648.0, 2147483647.0), {1LL << 40}).ok());
}

TEST(InputBoundsTest, NarrowTypesHaveNothingOutOfBounds) {
  EXPECT_TRUE(checked<std::uint8_t>(ElementType::kU8, up_to(1), {255}).ok());
  EXPECT_TRUE(checked<std::int8_t>(ElementType::kI8, up_to(1), {-128}).ok());
  EXPECT_TRUE(checked<std::uint16_t>(ElementType::kU16, up_to(1), {65'535}).ok());
  EXPECT_TRUE(checked<std::int16_t>(ElementType::kI16, up_to(1), {-32'768}).ok());
  EXPECT_TRUE(checked<std::uint8_t>(ElementType::kBool, up_to(0), {1}).ok());
}

TEST(InputBoundsTest, MessagesNameTheInputTheNumberItsPlaceAndTheBounds) {
  std::vector<float> numbers(3'000, 1);
  numbers[2'345] = 2e9F;
  const Status large = checked(ElementType::kF32, up_to(1'073'741'824), numbers);
  EXPECT_EQ(large.code(), StatusCode::kUnsupported);
  EXPECT_EQ(large.message(),
            "input 'x' has 2e+09 as element 2345, but a:CPU computes this model as ONNX defines it only for numbers "
            "from -1073741824 to 1073741824, no NaN, no subnormal numbers");
  const auto text = [](const Status& status) { return std::string(status.message()); };
  EXPECT_THAT(text(checked<std::uint16_t>(ElementType::kF16, up_to(1), {0x63D0})), HasSubstr("has 1000 as element 0"));
  EXPECT_THAT(text(checked<std::uint16_t>(ElementType::kF16, up_to(1), {0x7E00})), HasSubstr("has nan as"));
  EXPECT_THAT(text(checked<std::uint16_t>(ElementType::kBF16, up_to(1), {0x7F80})), HasSubstr("has inf as"));
  EXPECT_THAT(text(checked<double>(ElementType::kF64, up_to(1), {-2})), HasSubstr("has -2 as"));
  EXPECT_THAT(
      text(checked<std::int64_t>(ElementType::kI64, from(-9, 8), {9})),
      HasSubstr("has 9 as element 0, but a:CPU computes this model as ONNX defines it only for numbers from -9 to 8"));
  EXPECT_THAT(text(checked<std::uint64_t>(ElementType::kU64, from(0, 8), {18'446'744'073'709'551'615U})),
              HasSubstr("has 18446744073709551615 as"));
}

TEST(InputBoundsTest, TensorsWithoutElementsAreRefusedWhereTheBoundSaysSo) {
  const Status status = checked<float>(ElementType::kF32, up_to(1), {});
  EXPECT_EQ(status.code(), StatusCode::kUnsupported);
  EXPECT_EQ(
      status.message(),
      "input 'x' has shape [0], but a:CPU computes this model as ONNX defines it only for tensors that are not empty");
  EXPECT_TRUE(checked<float>(ElementType::kF32, from(-1, 1), {}).ok());
}

TEST(InputBoundsTest, OfAViewWithStridesItsOwnNumbersAreLookedAtAlone) {
  std::vector<float> numbers{1, 99, 1, 99, 1, 99};
  const std::vector<TensorInfo> declared{{"x", ElementType::kF32, {kDynamic}}};
  const Bound bound = up_to(10);
  const auto bounds = InputBounds::of(declared, 1, std::span(&bound, 1), "a:CPU");
  TensorView view;
  view.data = numbers.data();
  view.shape = {3};
  view.strides = {2};
  EXPECT_TRUE(bounds.check(std::span(&view, 1)).ok());
  numbers[4] = 50;
  EXPECT_THAT(std::string(bounds.check(std::span(&view, 1)).message()), HasSubstr("has 50 as element 2"));
}

TEST(InputBoundsTest, InputsAreFoundByNameAndElseByPosition) {
  const auto refused = [](const std::vector<std::string>& names, const std::string& bounded, std::size_t place,
                          std::size_t count) {
    std::vector<TensorInfo> declared;
    std::vector<TensorView> views;
    std::vector<float> numbers{0, 9, 0};
    for (std::size_t i = 0; i < names.size(); ++i) {
      declared.push_back({names[i], ElementType::kF32, {1}});
      views.emplace_back();
      views.back().data = &numbers[i];
      views.back().shape = {1};
    }
    Bound bound = up_to(1);
    bound.input = bounded;
    bound.place = place;
    return !InputBounds::of(declared, count, std::span(&bound, 1), "a:CPU").check(views).ok();
  };
  EXPECT_TRUE(refused({"a", "b", "c"}, "b", 0, 3));
  EXPECT_FALSE(refused({"a", "b", "c"}, "c", 1, 3));
  EXPECT_TRUE(refused({"Parameter_1", "Parameter_2", "Parameter_3"}, "b", 1, 3));
  // A vendor left out an input that the model does not use.
  EXPECT_FALSE(refused({"a", "c"}, "b", 1, 3));
  EXPECT_FALSE(refused({"p", "q", "r"}, "b", 3, 3));
}

}  // namespace
}  // namespace latebind::core
