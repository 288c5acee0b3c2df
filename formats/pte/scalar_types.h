// The element types that both ExecuTorch and Latebind have, in one table.
//
// ExecuTorch's types are written as numbers, so that programs (.pte) can be written and read without its headers.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>

#include "include/latebind/latebind.h"

namespace latebind {

struct SharedType {
  std::int8_t scalar_type;  // ExecuTorch's number
  std::int32_t lb_type;
  std::uint8_t bytes;  // of one element
  std::string_view name;
};

inline constexpr std::array<SharedType, 13> kSharedTypes{{
    {11, LB_BOOL, 1, "bool"},
    {1, LB_I8, 1, "i8"},
    {0, LB_U8, 1, "u8"},
    {2, LB_I16, 2, "i16"},
    {27, LB_U16, 2, "u16"},
    {3, LB_I32, 4, "i32"},
    {28, LB_U32, 4, "u32"},
    {4, LB_I64, 8, "i64"},
    {29, LB_U64, 8, "u64"},
    {5, LB_F16, 2, "f16"},
    {15, LB_BF16, 2, "bf16"},
    {6, LB_F32, 4, "f32"},
    {7, LB_F64, 8, "f64"},
}};

// Null for types that only one side has: complex, quantized and packed ones.
[[nodiscard]] constexpr const SharedType* shared_type(std::int8_t scalar_type) {
  const auto* const found = std::ranges::find(kSharedTypes, scalar_type, &SharedType::scalar_type);
  return found != kSharedTypes.end() ? found : nullptr;
}
[[nodiscard]] constexpr const SharedType* shared_type_of_lb(std::int32_t lb_type) {
  const auto* const found = std::ranges::find(kSharedTypes, lb_type, &SharedType::lb_type);
  return found != kSharedTypes.end() ? found : nullptr;
}

}  // namespace latebind
