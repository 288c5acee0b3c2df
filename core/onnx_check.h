// Whether a device computes a user's ONNX model as ONNX defines it, by what is known of its vendor's errors
// (Backend::known_errors()).
#pragma once

#include <vector>

#include "core/backend.h"
#include "core/device.h"
#include "core/input_bounds.h"
#include "core/model.h"
#include "core/result.h"

namespace latebind::core {

struct OnnxBounds {
  std::size_t inputs = 0;  // of the model
  std::vector<InputBounds::Bound> bounds{};
};

// What the numbers that a caller gives must be for that; no bounds where any will do, where the model is no ONNX or a
// graph of Latebind's own, and where nothing is known against the vendor. kUnsupported names the nodes that the vendor
// computes otherwise, whatever a caller gives. Thread-safe.
[[nodiscard]] Result<OnnxBounds> bounds_as_onnx_says(const Model& model, Backend& backend, const Device& device);

}  // namespace latebind::core
