// What the numbers that a caller gives to an input must be for a model to be computed as ONNX defines it. A value.
#pragma once

#include <cstddef>
#include <limits>
#include <string>

namespace latebind::onnx {

struct InputBound {
  std::string input{};
  std::size_t place = 0;  // among the inputs of the model's own graph, for vendors that name them otherwise
  // Inclusive; ±infinity: no limit.
  double low = -std::numeric_limits<double>::infinity();
  double high = std::numeric_limits<double>::infinity();
  bool may_be_nan = true;
  bool may_be_subnormal = true;  // below the smallest normal number, and not 0
  bool may_be_empty = true;      // no elements
};

}  // namespace latebind::onnx
