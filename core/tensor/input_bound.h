// The numbers that a caller may give to an input so that the model is computed as ONNX defines it. A value.
#pragma once

#include <cstddef>
#include <limits>
#include <string>

namespace latebind::onnx {

struct InputBound {
  std::string input{};
  std::size_t place = 0;  // among the inputs of the model's own graph, for vendors that rename them
  // Inclusive; ±infinity means no limit.
  double low = -std::numeric_limits<double>::infinity();
  double high = std::numeric_limits<double>::infinity();
  bool may_be_nan = true;
  bool may_be_subnormal = true;  // below the smallest normal number, but not 0
  bool may_be_empty = true;      // no elements
};

}  // namespace latebind::onnx
