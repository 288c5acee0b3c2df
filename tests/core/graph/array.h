// Arrays of numbers for the evaluators: small, slow and plain.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "core/tensor/tensor.h"

namespace latebind::graph::testing {

using Dims = std::vector<std::int64_t>;

// Numbers are doubles, whatever their type in the graph.
struct Array {
  Dims shape;
  std::vector<double> values;
};

// By name.
using Inputs = std::map<std::string, Array>;

[[nodiscard]] std::int64_t count_of(const Dims& shape);
[[nodiscard]] Array read_array(core::ElementType type, const core::Shape& shape, std::span<const std::byte> bytes);

// Calls `visit` with each index of `shape`, row-major.
void for_each(const Dims& shape, const std::function<void(const Dims&)>& visit);
// The element of `array` at an index of a shape that it is broadcast to.
[[nodiscard]] double at(const Array& array, const Dims& index);

[[nodiscard]] Array map(Array x, const std::function<double(double)>& op);
// With broadcasting, as NumPy does it.
[[nodiscard]] Array binary(const Array& a, const Array& b, const std::function<double(double, double)>& op);
// Applies `op` to each row of the last dimension.
[[nodiscard]] Array by_row(Array x, const std::function<void(std::span<double>)>& op);
void softmax(std::span<double> row);
// Keeps the largest numbers, the first of equals, and sets the others to 0.
void keep_largest(std::span<double> row, std::size_t count);
[[nodiscard]] Array layer_norm(const Array& x, const Array& weight, const Array& bias, double epsilon);

}  // namespace latebind::graph::testing
