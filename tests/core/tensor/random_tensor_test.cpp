#include "core/tensor/random_tensor.h"

#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <cmath>
#include <cstdint>

namespace latebind::core {
namespace {

TEST(RandomTensorTest, MakesTheSameRandomValuesInEveryType) {
  std::array<double, 64> wide{};
  fill_random(ElementType::kF64, 5, std::as_writable_bytes(std::span(wide)));
  std::array<std::uint16_t, 64> half{};
  fill_random(ElementType::kF16, 5, std::as_writable_bytes(std::span(half)));
  std::array<std::uint16_t, 64> brain{};
  fill_random(ElementType::kBF16, 5, std::as_writable_bytes(std::span(brain)));
  bool differ = false;
  for (std::size_t i = 0; i < wide.size(); ++i) {
    EXPECT_LE(std::abs(wide[i]), 1.0);
    differ = differ || wide[i] != wide[0];
    const int exponent = (half[i] >> 10 & 31) - 15;
    const double value =
        half[i] == 0 ? 0 : std::ldexp(1.0 + (half[i] & 1023) / 1024.0, exponent) * (half[i] & 0x8000 ? -1 : 1);
    EXPECT_EQ(value, wide[i]);
    EXPECT_EQ(static_cast<double>(std::bit_cast<float>(static_cast<std::uint32_t>(brain[i]) << 16)), wide[i]);
  }
  EXPECT_TRUE(differ);
}

TEST(RandomTensorTest, IntegersAreZeroAndOneOrFromOneToTheMost) {
  std::array<std::int64_t, 200> small{};
  fill_random(ElementType::kI64, 1, std::as_writable_bytes(std::span(small)));
  std::array<std::int64_t, 200> large{};
  fill_random(ElementType::kI64, 1, std::as_writable_bytes(std::span(large)), 3);
  std::array<std::uint8_t, 200> truths{};
  fill_random(ElementType::kBool, 1, std::as_writable_bytes(std::span(truths)), 3);
  std::array<std::size_t, 4> counts{};
  for (std::size_t i = 0; i < small.size(); ++i) {
    EXPECT_TRUE(small[i] == 0 || small[i] == 1);
    ASSERT_TRUE(large[i] >= 1 && large[i] <= 3);
    ++counts[static_cast<std::size_t>(large[i])];
    EXPECT_LE(truths[i], 1);
  }
  EXPECT_GT(counts[1], 0U);
  EXPECT_GT(counts[2], 0U);
  EXPECT_GT(counts[3], 0U);
}

}  // namespace
}  // namespace latebind::core
