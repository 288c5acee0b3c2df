// Rejects integers that OpenVINO's CPU plugin would silently truncate: it computes integers in 32 bits, whatever type
// the model declares, so that 2^40 plus 2^40 is 0. Pure functions; any thread.
#pragma once

#include <span>

#include "core/result.h"
#include "core/tensor/tensor.h"

namespace latebind::openvino {

// Returns kUnsupported, naming the first input with a value that does not fit in 32 signed bits. The inputs must match
// their declarations.
[[nodiscard]] core::Status check_integer_range(std::span<const core::TensorInfo> declared,
                                               std::span<const core::TensorView> given);

}  // namespace latebind::openvino
