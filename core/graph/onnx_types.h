// A table of ONNX's numbers for element types (TensorProto.DataType), which ONNX Runtime uses as well.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>

#include "core/tensor/tensor.h"

namespace latebind::graph {

struct OnnxType {
  int number;
  core::ElementType type;
};

inline constexpr std::array<OnnxType, 13> kOnnxTypes{{
    {1, core::ElementType::kF32},
    {2, core::ElementType::kU8},
    {3, core::ElementType::kI8},
    {4, core::ElementType::kU16},
    {5, core::ElementType::kI16},
    {6, core::ElementType::kI32},
    {7, core::ElementType::kI64},
    {9, core::ElementType::kBool},
    {10, core::ElementType::kF16},
    {11, core::ElementType::kF64},
    {12, core::ElementType::kU32},
    {13, core::ElementType::kU64},
    {16, core::ElementType::kBF16},
}};

// Returns 0 for a number that is not an ElementType.
[[nodiscard]] constexpr int onnx_type(core::ElementType type) {
  const auto* const found = std::ranges::find(kOnnxTypes, type, &OnnxType::type);
  return found != kOnnxTypes.end() ? found->number : 0;
}

// Returns std::nullopt for types that Latebind does not have: strings, complex numbers, 8-bit floats and smaller.
[[nodiscard]] constexpr std::optional<core::ElementType> element_type_of_onnx(std::int64_t number) {
  const auto* const found = std::ranges::find(kOnnxTypes, number, &OnnxType::number);
  return found != kOnnxTypes.end() ? std::optional(found->type) : std::nullopt;
}

}  // namespace latebind::graph
