// Between ExecuTorch's tensors and Latebind's: element types, memory order, shapes as text.
//
// Pure functions; only the texts allocate memory. Any thread.
#pragma once

#include <executorch/runtime/core/exec_aten/exec_aten.h>

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "latebind/latebind.h"

namespace latebind::delegate {

// Nothing for types that Latebind does not have: complex, quantized and packed ones.
[[nodiscard]] std::optional<std::int32_t> type_of(::executorch::aten::ScalarType type);
// "f32"; for ExecuTorch's others their number: "ScalarType 9".
[[nodiscard]] std::string type_name(std::int32_t type);
[[nodiscard]] std::string type_name(::executorch::aten::ScalarType type);

// "[1,?,384]"
[[nodiscard]] std::string shape_text(std::span<const std::int64_t> dims);
[[nodiscard]] std::string shape_text(const ::executorch::aten::Tensor& tensor);

// True when the dimensions are in memory in their own order: row-major, as far as ExecuTorch has gaps at all.
[[nodiscard]] bool is_row_major(const ::executorch::aten::Tensor& tensor);

// Copies a row-major tensor to the memory order of another of the same shape and type, which both sides have.
void copy_to_order(const lb_tensor& from, const ::executorch::aten::Tensor& to);

}  // namespace latebind::delegate
