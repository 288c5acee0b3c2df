#include "backends/openvino/packed_inputs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

namespace latebind::openvino {
namespace {

using core::ElementType;
using core::kDynamic;
using core::Shape;
using core::TensorInfo;
using testing::ElementsAre;
using testing::HasSubstr;

TensorInfo of_tokens(const std::string& name, ElementType type = ElementType::kI64) {
  return {.name = name, .type = type, .shape = Shape{kDynamic, kDynamic}};
}

std::vector<TensorInfo> packed_inputs() {
  return {{.name = "token_places.mask", .type = ElementType::kI64, .shape = Shape{kDynamic}},
          of_tokens("ids"),
          of_tokens("token_slots.mask"),
          of_tokens("mask")};
}

TEST(PackedInputsTest, AreFoundByTheirNames) {
  const auto packing = packing_of(packed_inputs());
  ASSERT_TRUE(packing);
  EXPECT_THAT(packing->given, ElementsAre(1, 3));
  EXPECT_EQ(packing->mask, 3U);
  EXPECT_EQ(packing->places, 0U);
  EXPECT_EQ(packing->slots, 2U);
}

// Somebody's own network may have such names.
TEST(PackedInputsTest, OtherTypesAndNamesAreNotTaken) {
  EXPECT_FALSE(packing_of(std::vector{of_tokens("ids"), of_tokens("mask")}));
  for (std::size_t i = 0; i < 4; ++i) {
    auto inputs = packed_inputs();
    inputs[i].type = ElementType::kI32;
    EXPECT_FALSE(packing_of(inputs)) << i;
    inputs = packed_inputs();
    inputs[i].shape = Shape{kDynamic, kDynamic, 3};
    EXPECT_FALSE(packing_of(inputs)) << i;
    if (i == 1) continue;
    inputs = packed_inputs();
    inputs[i].name = "other";
    EXPECT_FALSE(packing_of(inputs)) << i;
  }
}

TEST(PackedInputsTest, CountsGoUpInSteps) {
  for (const auto& [count, computed] :
       {std::pair{1U, 8U}, {8U, 8U}, {9U, 16U}, {256U, 256U}, {257U, 272U}, {513U, 544U}, {1024U, 1024U}}) {
    EXPECT_EQ(tokens_to_compute(count), computed) << count;
    EXPECT_EQ(tokens_to_compute(computed), computed) << count;
  }
  for (const auto& [count, computed] : {std::pair{2U, 2U}, {3U, 4U}, {16U, 16U}, {17U, 20U}, {33U, 40U}}) {
    EXPECT_EQ(rows_to_compute(count), computed) << count;
    EXPECT_EQ(rows_to_compute(computed), computed) << count;
  }
}

TEST(PackedInputsTest, InputsOfOtherShapesAreRefusedByName) {
  const std::vector<TensorInfo> declared{of_tokens("ids"), of_tokens("mask")};
  const auto view = [](const Shape& shape) {
    return core::TensorView{.data = nullptr, .type = ElementType::kI64, .shape = shape, .strides = {}};
  };
  EXPECT_TRUE(check_same_shape(declared, std::vector{view({2, 3}), view({2, 3})}).ok());
  const auto refused = check_same_shape(declared, std::vector{view({2, 3}), view({3, 2})});
  EXPECT_EQ(refused.code(), core::StatusCode::kShapeMismatch);
  EXPECT_THAT(refused.message(), HasSubstr("'mask' has shape [3,2], and 'ids' has [2,3]"));
}

}  // namespace
}  // namespace latebind::openvino
