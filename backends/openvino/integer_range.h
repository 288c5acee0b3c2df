// OpenVINO's CPU plugin computes whole numbers in 32 bits, whatever type the model declares, silently: 2^40 plus 2^40
// is 0 there. Values that do not fit are rejected here instead.
#pragma once

#include <span>

#include "core/result.h"
#include "core/tensor.h"

namespace latebind::openvino {

// kUnsupported names the first input with a value that 32 signed bits cannot hold. Inputs match their declarations.
[[nodiscard]] core::Status check_integer_range(std::span<const core::TensorInfo> declared,
                                               std::span<const core::TensorView> given);

}  // namespace latebind::openvino
