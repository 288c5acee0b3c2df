// Conversion of 16-bit floating-point numbers to f32, which represents each of them exactly, and back. Pure functions.
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

// Return the nearest 16-bit number, the even one of two. Numbers beyond its range become infinite; a NaN stays one.
[[nodiscard]] constexpr std::uint16_t to_bf16(float number) {
  const auto bits = std::bit_cast<std::uint32_t>(number);
  if ((bits & 0x7FFFFFFFU) > 0x7F800000U) return static_cast<std::uint16_t>((bits >> 16U) | 0x40U);  // NaN
  return static_cast<std::uint16_t>((bits + 0x7FFFU + ((bits >> 16U) & 1U)) >> 16U);
}

[[nodiscard]] constexpr std::uint16_t to_f16(float number) {
  const auto bits = std::bit_cast<std::uint32_t>(number);
  const std::uint32_t sign = (bits >> 16U) & 0x8000U;
  const std::uint32_t size = bits & 0x7FFFFFFFU;
  std::uint32_t half = 0;
  if (size > 0x7F800000U) {
    half = 0x7E00U;  // NaN
  } else if (size >= 0x477FF000U) {
    half = 0x7C00U;  // nearer to infinity than to 65504
  } else if (size < 0x38800000U) {
    // Subnormal: 0.5 has steps of 2^-24, so the sum is rounded to them.
    half = std::bit_cast<std::uint32_t>(std::bit_cast<float>(size) + 0.5F) - 0x3F000000U;
  } else {
    half = (size - (112U << 23U) + 0xFFFU + ((size >> 13U) & 1U)) >> 13U;
  }
  return static_cast<std::uint16_t>(sign | half);
}

}  // namespace latebind::core
