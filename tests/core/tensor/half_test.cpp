// Conversion between f32 and the 16-bit floating-point types.
#include "core/tensor/half.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numeric>

namespace latebind::core {
namespace {

TEST(HalfTest, EveryNumberComesBackAndMidpointsGoToTheEvenOne) {
  for (std::uint32_t bits = 0; bits < 0x7F80U; ++bits) {
    const auto half = static_cast<std::uint16_t>(bits);
    ASSERT_EQ(to_bf16(from_bf16(half)), half);
    ASSERT_EQ(to_bf16(-from_bf16(half)), half | 0x8000U);
    if (bits + 1 == 0x7F80U) continue;
    const float middle = std::midpoint(from_bf16(half), from_bf16(static_cast<std::uint16_t>(bits + 1)));
    ASSERT_EQ(to_bf16(middle), bits % 2 == 0 ? bits : bits + 1) << bits;
  }
  for (std::uint32_t bits = 0; bits < 0x7C00U; ++bits) {
    const auto half = static_cast<std::uint16_t>(bits);
    ASSERT_EQ(to_f16(from_f16(half)), half);
    ASSERT_EQ(to_f16(-from_f16(half)), half | 0x8000U);
    if (bits + 1 == 0x7C00U) continue;
    const float next = from_f16(static_cast<std::uint16_t>(bits + 1));
    const float middle = std::midpoint(from_f16(half), next);
    ASSERT_EQ(to_f16(middle), bits % 2 == 0 ? bits : bits + 1) << bits;
    ASSERT_EQ(to_f16(std::nextafter(middle, next)), bits + 1) << bits;
  }
}

TEST(HalfTest, NumbersBeyondTheRangeAreInfiniteAndNansStayNans) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  EXPECT_EQ(to_f16(65519.0F), 0x7BFFU);
  EXPECT_EQ(to_f16(65520.0F), 0x7C00U);
  EXPECT_EQ(to_f16(-1e30F), 0xFC00U);
  EXPECT_EQ(to_f16(kInfinity), 0x7C00U);
  EXPECT_EQ(to_bf16(std::numeric_limits<float>::max()), 0x7F80U);
  EXPECT_EQ(to_bf16(kInfinity), 0x7F80U);
  EXPECT_TRUE(std::isnan(from_f16(to_f16(std::numeric_limits<float>::quiet_NaN()))));
  EXPECT_TRUE(std::isnan(from_bf16(to_bf16(std::bit_cast<float>(0x7F800001U)))));
}

}  // namespace
}  // namespace latebind::core
