// The vendor's inputs where the network was written with packed tokens (core/graph/token_packing.h): those of the
// caller, and where the tokens are.
//
// The vendor makes something ready for every new number of tokens and of rows. So both go up in steps, as far as there
// are several texts: a text by itself is computed as it is.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "core/result.h"
#include "core/tensor.h"

namespace latebind::openvino {

// Positions among the vendor's inputs.
struct Packing {
  std::vector<std::size_t> given;  // those of the caller, in the caller's order
  std::size_t mask = 0;            // one of them
  std::size_t places = 0;
  std::size_t slots = 0;
};

// Nothing where the names of the inputs are not those of packed tokens.
[[nodiscard]] std::optional<Packing> packing_of(std::span<const core::TensorInfo> vendor_inputs);

// Of several texts; at least as many.
[[nodiscard]] std::size_t rows_to_compute(std::size_t rows);
[[nodiscard]] std::size_t tokens_to_compute(std::size_t tokens);

// Whether all have one shape, as packed tokens must. kShapeMismatch.
[[nodiscard]] core::Status check_same_shape(std::span<const core::TensorInfo> declared,
                                            std::span<const core::TensorView> given);

}  // namespace latebind::openvino
