// Sizes and transposes of the matrices of adapters. Pure functions; any thread may call them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <vector>

namespace latebind::embedding {

// Returns sizes as the dimensions of a tensor.
[[nodiscard]] inline std::vector<std::int64_t> dims_of(std::initializer_list<std::size_t> sizes) {
  std::vector<std::int64_t> dims;
  for (const std::size_t size : sizes)
    dims.push_back(static_cast<std::int64_t>(size));
  return dims;
}

// Returns the numbers of a row-major matrix [rows, columns] as [columns, rows].
[[nodiscard]] inline std::vector<float> transposed(std::span<const float> from, std::size_t rows, std::size_t columns) {
  std::vector<float> to(from.size());
  for (std::size_t row = 0; row < rows; ++row) {
    for (std::size_t column = 0; column < columns; ++column)
      to[column * rows + row] = from[row * columns + column];
  }
  return to;
}

}  // namespace latebind::embedding
