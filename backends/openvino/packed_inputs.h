// The vendor's inputs for a network with packed tokens (core/graph/token_packing.h): the caller's inputs, and the
// places of the tokens.
//
// The vendor prepares its kernels for every new number of tokens and of rows. With several texts, both numbers are
// therefore rounded up to steps; a single text is computed as it is. Pure functions; any thread.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "core/result.h"
#include "core/tensor/tensor.h"

namespace latebind::openvino {

// Indices of the vendor's inputs.
struct Packing {
  std::vector<std::size_t> given;  // the caller's inputs, in the caller's order
  std::size_t mask = 0;            // one of `given`
  std::size_t places = 0;
  std::size_t slots = 0;
};

// std::nullopt if the inputs do not have the names of packed tokens.
[[nodiscard]] std::optional<Packing> packing_of(std::span<const core::TensorInfo> vendor_inputs);

// The rounded numbers for several texts; at least the given ones.
[[nodiscard]] std::size_t rows_to_compute(std::size_t rows);
[[nodiscard]] std::size_t tokens_to_compute(std::size_t tokens);

// Returns kShapeMismatch unless all inputs have the same shape, as packed tokens require.
[[nodiscard]] core::Status check_same_shape(std::span<const core::TensorInfo> declared,
                                            std::span<const core::TensorView> given);

}  // namespace latebind::openvino
