// Array: a tensor of doubles for the reference evaluator, which is small and plain instead of fast. Values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "core/tensor/tensor.h"

namespace latebind::kit {

using Dims = std::vector<std::int64_t>;

struct Array {
  Dims shape;
  std::vector<double> values;  // row-major; whole numbers, too, are doubles
};

// The inputs of a graph by name.
using Inputs = std::map<std::string, Array>;

// A dimension or an index as a size.
[[nodiscard]] inline std::size_t to_size(std::int64_t dim) {
  return static_cast<std::size_t>(dim);
}
[[nodiscard]] std::int64_t count_of(const Dims& shape);
// Reads a weight. Throws std::logic_error unless the type is one that weights have (f32, f16, bf16), or i64.
[[nodiscard]] Array read_array(core::ElementType type, const core::Shape& shape, std::span<const std::byte> bytes);

// Calls `visit` with each index of `shape`, row-major.
void for_each(const Dims& shape, const std::function<void(const Dims&)>& visit);
// Returns the element of `array` at an index of a shape to which the array is broadcast.
[[nodiscard]] double at(const Array& array, const Dims& index);

[[nodiscard]] Array map(Array x, const std::function<double(double)>& op);
// Applies `op` to each pair of elements, with broadcasting as in NumPy. Throws std::logic_error if the shapes do not
// broadcast.
[[nodiscard]] Array binary(const Array& a, const Array& b, const std::function<double(double, double)>& op);
// Applies `op` to each row, where a row is the last dimension.
[[nodiscard]] Array by_row(Array x, const std::function<void(std::span<double>)>& op);
void softmax(std::span<double> row);
// Sets all but the `count` largest numbers to 0. Of equal numbers, it keeps the first ones.
void keep_largest(std::span<double> row, std::size_t count);
[[nodiscard]] Array layer_norm(const Array& x, const Array& weight, const Array& bias, double epsilon);

}  // namespace latebind::kit
