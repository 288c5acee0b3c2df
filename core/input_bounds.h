// InputBounds: what numbers a caller may give to a model on a device that computes others otherwise than the model
// says.
//
// A run with other numbers is kUnsupported before the device sees it, so that the next device of the placement answers.
// Checking costs one pass over the inputs that are bounded. Constant after construction; any thread.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "core/onnx/input_bound.h"
#include "core/result.h"
#include "core/tensor.h"

namespace latebind::core {

class InputBounds {
 public:
  using Bound = onnx::InputBound;

  // Any numbers.
  InputBounds() = default;
  // `declared`: the inputs of what is loaded, `count` those of the model: a vendor may leave out what a model does not
  // use. Those that `bounds` does not name are not bounded. `device` is for messages.
  static InputBounds of(std::span<const TensorInfo> declared, std::size_t count, std::span<const Bound> bounds,
                        std::string device);

  [[nodiscard]] bool empty() const { return bounds_.empty(); }

  // `given`: checked against the declarations. kUnsupported names the input, the number, where it is, and the bounds.
  [[nodiscard]] Status check(std::span<const TensorView> given) const;

 private:
  struct Placed {
    std::size_t place = 0;
    Bound bound;
  };
  std::vector<Placed> bounds_;
  std::string device_;
};

}  // namespace latebind::core
