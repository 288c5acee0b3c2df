#include "core/tensor/tensor.h"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <limits>
#include <vector>

namespace latebind::core {
namespace {

TEST(ShapeTest, RankZeroHasOneElement) {
  const Shape scalar;
  EXPECT_EQ(scalar.rank(), 0U);
  EXPECT_EQ(*scalar.element_count(), 1U);
  EXPECT_EQ(scalar.to_string(), "[]");
}

TEST(ShapeTest, RefusesTooManyDimensionsAndNegativeOnes) {
  const std::vector<std::int64_t> nine(9, 1);
  EXPECT_EQ(Shape::make(nine).status().code(), StatusCode::kUnsupported);
  const std::array<std::int64_t, 2> negative{3, -2};
  EXPECT_EQ(Shape::make(negative).status().code(), StatusCode::kInvalidArgument);
  const std::array<std::int64_t, 2> dynamic{3, kDynamic};
  EXPECT_FALSE(Shape::make(dynamic)->is_static());
}

TEST(ShapeTest, CountsWithoutOverflow) {
  const std::int64_t huge = std::numeric_limits<std::int64_t>::max();
  EXPECT_FALSE((Shape{huge, huge}).element_count().ok());
  EXPECT_FALSE((Shape{huge}).element_count().ok());
  EXPECT_EQ(*(Shape{huge, huge, 0}).element_count(), 0U);
  EXPECT_FALSE((Shape{kDynamic}).element_count().ok());
}

TEST(ShapeTest, DynamicDimensionsAcceptAnySize) {
  const Shape declared{kDynamic, 384};
  EXPECT_TRUE(declared.accepts({7, 384}));
  EXPECT_FALSE(declared.accepts({7, 383}));
  EXPECT_FALSE(declared.accepts({7}));
}

TEST(ElementTypeTest, NamesAndSizesGoTogether) {
  for (const char* name : {"bool", "i8", "u8", "i16", "u16", "i32", "u32", "i64", "u64", "f16", "bf16", "f32", "f64"}) {
    const auto type = element_type_from_name(name);
    ASSERT_TRUE(type.has_value()) << name;
    EXPECT_EQ(name_of(*type), name);
    EXPECT_GT(size_of(*type), 0U);
  }
  EXPECT_FALSE(element_type_from_name("f128").has_value());
  EXPECT_EQ(size_of(static_cast<ElementType>(99)), 0U);
}

TEST(TensorViewTest, CopiesStridedElementsInRowMajorOrder) {
  // A 2x3 matrix stored by columns.
  std::array<std::int32_t, 6> stored{1, 4, 2, 5, 3, 6};
  TensorView view{stored.data(), ElementType::kI32, {2, 3}, {{1, 2}}};
  EXPECT_FALSE(view.is_contiguous());
  std::array<std::int32_t, 6> out{};
  ASSERT_TRUE(view.copy_to_contiguous(out.data()).ok());
  EXPECT_EQ(out, (std::array<std::int32_t, 6>{1, 2, 3, 4, 5, 6}));
}

TEST(TensorViewTest, StridesOfDimensionsOfOneDoNotMatter) {
  float data[3] = {};
  const TensorView view{data, ElementType::kF32, {1, 3}, {{99, 1}}};
  EXPECT_TRUE(view.is_contiguous());
}

TEST(TensorViewTest, RefusesNegativeStrides) {
  float data[4] = {};
  float out[4];
  const TensorView view{data + 3, ElementType::kF32, {4}, {{-1}}};
  EXPECT_EQ(view.copy_to_contiguous(out).code(), StatusCode::kUnsupported);
}

TEST(TensorViewTest, RefusesStridesThatLeadOutOfMemory) {
  float values[4] = {};
  float out[4] = {};
  TensorView view{.data = values, .type = ElementType::kF32, .shape = {2, 2}, .strides = {}};
  for (const std::int64_t far : {INT64_MAX, INT64_MAX / 2, std::int64_t{1} << 48}) {
    view.strides = {far, 1};
    EXPECT_EQ(view.extent().status().code(), StatusCode::kInvalidArgument) << far;
    EXPECT_EQ(view.copy_to_contiguous(out).code(), StatusCode::kInvalidArgument) << far;
  }
  view.strides = {2, 1};
  EXPECT_EQ(*view.extent(), 4U);
  view.strides = {0, 0};
  EXPECT_EQ(*view.extent(), 1U);
  view.shape = {1, 2};
  view.strides = {INT64_MAX, 3};
  EXPECT_EQ(*view.extent(), 4U) << "nothing is a whole stride of the first dimension away";
}

TEST(OutputTensorTest, KeepsItsBufferBetweenRunsOfTheSameSize) {
  OutputTensor output;
  void* const first = *output.prepare(ElementType::kF32, {4, 4});
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(first) % 64, 0U);
  EXPECT_EQ(*output.prepare(ElementType::kF32, {2, 4}), first);
  EXPECT_EQ(output.view().shape, (Shape{2, 4}));
}

TEST(OutputTensorTest, WhatWasMovedFromIsAsNew) {
  OutputTensor output;
  ASSERT_TRUE(output.prepare(ElementType::kF32, {4}).ok());
  const OutputTensor taken = std::move(output);
  EXPECT_NE(taken.view().data, nullptr);
  EXPECT_EQ(output.view().data, nullptr);  // NOLINT(bugprone-use-after-move): that is the question
  const auto again = output.prepare(ElementType::kF32, {4});
  ASSERT_TRUE(again.ok());
  EXPECT_NE(*again, nullptr);

  float memory = 0;
  OutputTensor bound = OutputTensor::bound(&memory, sizeof memory);
  output = std::move(bound);
  EXPECT_TRUE(output.is_bound());
  EXPECT_FALSE(bound.is_bound());  // NOLINT(bugprone-use-after-move)
}

TEST(OutputTensorTest, BoundMemoryThatIsTooSmallIsRefusedWithBothSizes) {
  std::array<float, 4> memory{};
  OutputTensor output = OutputTensor::bound(memory.data(), sizeof memory);
  EXPECT_EQ(*output.prepare(ElementType::kF32, {4}), memory.data());
  const auto refused = output.prepare(ElementType::kF32, {5});
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.status().code(), StatusCode::kBufferTooSmall);
  EXPECT_NE(refused.status().message().find("20 bytes"), std::string_view::npos);
}

}  // namespace
}  // namespace latebind::core
