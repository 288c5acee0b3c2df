// Checks whether a device computes a user's ONNX model as ONNX defines it, according to the known errors of its vendor
// (KnownErrors in core/backend/capabilities.h).
#pragma once

#include <vector>

#include "core/backend/backend.h"
#include "core/backend/device.h"
#include "core/model/model.h"
#include "core/result.h"
#include "core/tensor/input_bounds.h"

namespace latebind::core {

// The numbers that a caller may give to a model.
struct OnnxBounds {
  std::size_t inputs = 0;  // the number of the model's inputs
  std::vector<InputBounds::Bound> bounds{};
};

// Returns the bounds within which the device computes the model as ONNX defines it. There are no bounds if any numbers
// will do, if the model is not ONNX or is one of Latebind's graphs, and if no errors of the vendor are known.
// kUnsupported names the nodes that the vendor computes differently for any input. May be called from any thread.
[[nodiscard]] Result<OnnxBounds> onnx_input_bounds(const Model& model, Backend& backend, const Device& device);

}  // namespace latebind::core
