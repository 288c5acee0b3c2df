#include "backends/openvino/element_types.h"

#include <gtest/gtest.h>

namespace latebind::openvino {
namespace {

using core::ElementType;

TEST(ElementTypesTest, NumbersEveryTypeThereAndBackInBothNumberings) {
  for (const auto numbering : {ElementNumbering::k2024, ElementNumbering::k2025}) {
    const ElementTypes types(numbering);
    for (int i = 1; i <= 13; ++i) {
      const auto type = static_cast<ElementType>(i);
      EXPECT_EQ(types.type_of(types.code_of(type)), type) << i;
      EXPECT_EQ(types.name_of(types.code_of(type)), core::name_of(type)) << i;
    }
  }
}

TEST(ElementTypesTest, KnowsTheNumbersOfBothNumberings) {
  EXPECT_EQ(ElementTypes(ElementNumbering::k2024).code_of(ElementType::kF32), 5U);
  EXPECT_EQ(ElementTypes(ElementNumbering::k2025).code_of(ElementType::kF32), 4U);
  EXPECT_EQ(ElementTypes(ElementNumbering::k2024).code_of(ElementType::kU64), 20U);
  EXPECT_EQ(ElementTypes(ElementNumbering::k2025).code_of(ElementType::kU64), 19U);
}

TEST(ElementTypesTest, NamesWhatItDoesNotHave) {
  const ElementTypes types(ElementNumbering::k2025);
  EXPECT_EQ(types.type_of(14), std::nullopt);
  EXPECT_EQ(types.name_of(14), "u4");
  EXPECT_EQ(types.name_of(23), "string");
  EXPECT_EQ(types.type_of(999), std::nullopt);
  EXPECT_EQ(types.name_of(999), "number 999");
  EXPECT_EQ(ElementTypes(ElementNumbering::k2024).type_of(0), std::nullopt);
}

}  // namespace
}  // namespace latebind::openvino
