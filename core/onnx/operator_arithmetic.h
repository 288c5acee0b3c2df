// Interval arithmetic for ONNX's operators: unary, binary, reductions and matrix products.
//
// Pure functions, for any thread.
#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "core/onnx/network.h"
#include "core/onnx/value_range.h"

namespace latebind::onnx {

// Each returns std::nullopt for an operator that is not of its kind.
[[nodiscard]] std::optional<Interval> unary_interval(const Node& node, const ValueRange& x);
[[nodiscard]] std::optional<Interval> binary_interval(const Node& node, const ValueRange& a, const ValueRange& b);
[[nodiscard]] std::optional<Interval> reduced_interval(const Node& node, const ValueRange& x, const ValueRange* axes);
// For MatMul, Gemm, Einsum, convolutions and their integer versions.
[[nodiscard]] Interval product_interval(const Node& node, std::span<const ValueRange* const> inputs);

// Returns the product of limits of intervals, where 0 times infinity is 0.
[[nodiscard]] double limit_product(double a, double b);
// Returns a floating-point attribute, or `otherwise`.
[[nodiscard]] double number_of(const Node& node, std::string_view name, double otherwise);
// Returns the largest number of elements that a tensor may have.
[[nodiscard]] double elements_of(const ValueRange& range);

}  // namespace latebind::onnx
