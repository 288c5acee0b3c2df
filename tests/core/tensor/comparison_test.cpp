#include "core/tensor/comparison.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <vector>

namespace latebind::core {
namespace {

using ::testing::HasSubstr;

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInfinite = std::numeric_limits<float>::infinity();

template <class T>
Difference compared(std::vector<T> tested, std::vector<T> reference, const Shape& shape,
                    ElementType type = ElementType::kF32) {
  return difference({tested.data(), type, shape, {}}, {reference.data(), type, shape, {}});
}

Difference compared(std::vector<float> tested, std::vector<float> reference) {
  const auto size = static_cast<std::int64_t>(reference.size());
  return compared(std::move(tested), std::move(reference), Shape{size});
}

bool agree(const Difference& one, Precision precision = Precision::kF32) {
  return agrees(one, agreement_bounds(precision));
}

TEST(ComparisonTest, EqualNumbersAgree) {
  const Difference same = compared({1, -2, 0}, {1, -2, 0});
  EXPECT_EQ(same.elements, 3U);
  EXPECT_EQ(same.absolute, 0);
  EXPECT_DOUBLE_EQ(same.cosine, 1);
  EXPECT_TRUE(agree(same));
}

TEST(ComparisonTest, IsRelativeToTheLargestNumber) {
  const Difference one = compared({10, 0.001F}, {10, 0});
  EXPECT_NEAR(one.absolute, 0.001, 1e-9);
  EXPECT_NEAR(one.relative, 0.0001, 1e-9);
  EXPECT_TRUE(agree(one));
  EXPECT_FALSE(agree(compared({10, 0.2F}, {10, 0})));
  EXPECT_TRUE(agree(compared({10, 0.2F}, {10, 0}), Precision::kF16));
}

TEST(ComparisonTest, WhatIsLeftOfNumbersThatCancelAgrees) {
  EXPECT_TRUE(agree(compared({1e-9F, 2e-9F}, {-2e-9F, 0})));
  EXPECT_TRUE(agree(compared({0, 0}, {0, 0})));
  EXPECT_FALSE(agree(compared({1, 0}, {0, 0})));
}

TEST(ComparisonTest, TheCosineIsThatOfTheWorstItem) {
  const Difference one = compared<float>({1, 0, 0, 1}, {1, 0, 1, 0}, {2, 2});
  EXPECT_DOUBLE_EQ(one.cosine, 0);
  // As one item it would be more.
  EXPECT_DOUBLE_EQ(compared({1, 0, 0, 1}, {1, 0, 1, 0}).cosine, 0.5);
  // An item of noise has no say.
  EXPECT_DOUBLE_EQ(compared<float>({1, 0, 0, 0.001F}, {1, 0, 0.001F, 0}, {2, 2}).cosine, 1);
}

TEST(ComparisonTest, NumbersThatAreNotFiniteMustBeSoOnBothSides) {
  const Difference same = compared({kNan, kInfinite, 1}, {kNan, kInfinite, 1});
  EXPECT_EQ(same.nan_count, 1U);
  EXPECT_EQ(same.reference_nan_count, 1U);
  EXPECT_EQ(same.non_finite_apart, 0U);
  EXPECT_TRUE(agree(same));
  for (const float wrong : {kNan, kInfinite, -kInfinite}) {
    const Difference apart = compared({wrong, 1}, {2, 1});
    EXPECT_EQ(apart.non_finite_apart, 1U);
    EXPECT_FALSE(agree(apart, Precision::kInt8)) << wrong;
    EXPECT_THAT(text_of(apart, agreement_bounds(Precision::kInt8)), HasSubstr("NaN or infinite on only one side"));
  }
  EXPECT_FALSE(agree(compared({kInfinite, 1}, {-kInfinite, 1})));
  EXPECT_FALSE(agree(compared({2, 1}, {kNan, 1})));
}

TEST(ComparisonTest, IntegersMustBeEqualInF32AndMostlySoInOthers) {
  std::vector<std::int64_t> reference(200, 7);
  std::vector<std::int64_t> tested = reference;
  tested[5] = 8;
  const Difference one = compared(tested, reference, {200}, ElementType::kI64);
  EXPECT_EQ(one.different, 1U);
  EXPECT_FALSE(agree(one));
  EXPECT_TRUE(agree(one, Precision::kF16));
  EXPECT_THAT(text_of(one, agreement_bounds(Precision::kF32)), HasSubstr("1 of 200 elements are not equal"));
}

TEST(ComparisonTest, ReadsHalfPrecision) {
  // 1, -2, the smallest subnormal, infinity.
  const std::vector<std::uint16_t> half{0x3C00, 0xC000, 0x0001, 0x7C00};
  const std::vector<std::uint16_t> other{0x3C00, 0xC000, 0x0000, 0x7C00};
  const Difference one = compared(half, other, {4}, ElementType::kF16);
  EXPECT_DOUBLE_EQ(one.absolute, 0x1p-24);
  EXPECT_EQ(one.non_finite_apart, 0U);
  const Difference brain = compared<std::uint16_t>({0x3F80, 0x4000}, {0x3F80, 0x4080}, {2}, ElementType::kBF16);
  EXPECT_DOUBLE_EQ(brain.absolute, 2);
}

TEST(ComparisonTest, OtherShapesAndTypesAreAMismatch) {
  float number = 1;
  double wide = 1;
  const TensorView one{&number, ElementType::kF32, {1}, {}};
  const Difference shape = difference(one, {&number, ElementType::kF32, {1, 1}, {}});
  EXPECT_EQ(shape.mismatch, "shape [1] instead of [1,1]");
  EXPECT_FALSE(agree(shape, Precision::kFast));
  EXPECT_EQ(difference(one, {&wide, ElementType::kF64, {1}, {}}).mismatch, "f32 instead of f64");
}

TEST(ComparisonTest, SeveralAddUpToTheWorst) {
  Difference all = compared({1, 0}, {1, 0});
  add_difference(all, compared({0, 1}, {1, 0}));
  add_difference(all, compared({1, kNan}, {1, 0}));
  EXPECT_EQ(all.elements, 6U);
  EXPECT_DOUBLE_EQ(all.absolute, 1);
  EXPECT_DOUBLE_EQ(all.cosine, 0);
  EXPECT_EQ(all.nan_count, 1U);
}

TEST(ComparisonTest, LowerPrecisionsHaveWiderBounds) {
  const auto f32 = agreement_bounds(Precision::kF32);
  const auto f16 = agreement_bounds(Precision::kF16);
  const auto bf16 = agreement_bounds(Precision::kBF16);
  const auto int8 = agreement_bounds(Precision::kInt8);
  EXPECT_LT(f32.relative_most, f16.relative_most);
  EXPECT_LT(f16.relative_most, bf16.relative_most);
  EXPECT_LT(bf16.relative_most, int8.relative_most);
  EXPECT_GT(f32.cosine_least, f16.cosine_least);
  EXPECT_GT(f16.cosine_least, bf16.cosine_least);
  EXPECT_GT(bf16.cosine_least, int8.cosine_least);
  EXPECT_EQ(f32.different_most, 0);
}

}  // namespace
}  // namespace latebind::core
