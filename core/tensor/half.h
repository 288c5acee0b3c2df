// Conversion of 16-bit floating-point numbers to f32, which represents each of them exactly. Pure functions.
#pragma once

#include <bit>
#include <cstdint>

namespace latebind::core {

[[nodiscard]] constexpr float from_bf16(std::uint16_t bits) {
  return std::bit_cast<float>(std::uint32_t{bits} << 16U);
}

[[nodiscard]] constexpr float from_f16(std::uint16_t bits) {
  const std::uint32_t sign = std::uint32_t{bits & 0x8000U} << 16U;
  const std::uint32_t exponent = (bits >> 10U) & 0x1FU;
  const std::uint32_t fraction = bits & 0x3FFU;
  if (exponent == 0x1F) return std::bit_cast<float>(sign | 0x7F800000U | (fraction << 13U));
  if (exponent != 0) return std::bit_cast<float>(sign | ((exponent + 112) << 23U) | (fraction << 13U));
  constexpr float kSmallest = 1.0F / (1 << 24);  // the step of subnormal numbers
  return std::bit_cast<float>(std::bit_cast<std::uint32_t>(static_cast<float>(fraction) * kSmallest) | sign);
}

}  // namespace latebind::core
