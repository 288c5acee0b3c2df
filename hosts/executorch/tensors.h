// Conversion between ExecuTorch's tensors and Latebind's: element types, memory order, and shapes as text.
//
// Pure functions, of which only those that return text allocate memory. Any thread.
#pragma once

#include <executorch/runtime/core/exec_aten/exec_aten.h>

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "latebind/latebind.h"

namespace latebind::delegate {

// std::nullopt for types that Latebind does not have: complex, quantized and packed ones.
[[nodiscard]] std::optional<std::int32_t> type_of(::executorch::aten::ScalarType type);
// "f32"; for other types of ExecuTorch their number: "ScalarType 9".
[[nodiscard]] std::string type_name(std::int32_t type);
[[nodiscard]] std::string type_name(::executorch::aten::ScalarType type);

// For example, "[1,?,384]".
[[nodiscard]] std::string shape_text(std::span<const std::int64_t> dims);
[[nodiscard]] std::string shape_text(const ::executorch::aten::Tensor& tensor);

// Whether the order of dimensions in memory is row-major. (ExecuTorch's tensors have no gaps.)
[[nodiscard]] bool is_row_major(const ::executorch::aten::Tensor& tensor);

// Copies a row-major tensor into another one of the same shape, type and size, in the other's memory order.
void copy_to_order(const lb_tensor& from, const ::executorch::aten::Tensor& to);

}  // namespace latebind::delegate
