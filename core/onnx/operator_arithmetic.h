// What the arithmetic of ONNX's operators makes of intervals: of one number, of two, of many that are reduced, and of
// products of matrices.
//
// Pure functions; any thread.
#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "core/onnx/network.h"
#include "core/onnx/value_range.h"

namespace latebind::onnx {

// Nothing for an operator that is none of this kind.
[[nodiscard]] std::optional<Interval> unary_interval(const Node& node, const ValueRange& x);
[[nodiscard]] std::optional<Interval> binary_interval(const Node& node, const ValueRange& a, const ValueRange& b);
[[nodiscard]] std::optional<Interval> reduced_interval(const Node& node, const ValueRange& x, const ValueRange* axes);
// MatMul, Gemm, Einsum, convolutions and those of integers.
[[nodiscard]] Interval product_interval(const Node& node, std::span<const ValueRange* const> inputs);

// Of limits of intervals, where 0 times whatever is far away is 0.
[[nodiscard]] double limit_product(double a, double b);
// A floating-point attribute.
[[nodiscard]] double number_of(const Node& node, std::string_view name, double otherwise);
// The most elements that a tensor may have.
[[nodiscard]] double elements_of(const ValueRange& range);

}  // namespace latebind::onnx
