// InputBounds: the numbers that a caller may give to a model on a device that computes other numbers differently from
// the model's definition.
//
// A run with other numbers is kUnsupported before the device sees it, so that the next device of the placement answers.
// The check costs one pass over the bounded inputs. Constant after construction; may be used from any thread.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "core/result.h"
#include "core/tensor/input_bound.h"
#include "core/tensor/tensor.h"

namespace latebind::core {

class InputBounds {
 public:
  using Bound = onnx::InputBound;

  // Allows any numbers.
  InputBounds() = default;
  // `declared` has the inputs of the loaded model; `count` is the number of inputs of the model itself, because a
  // vendor may leave out inputs that a model does not use. Inputs that `bounds` does not name are not bounded. `device`
  // is for messages.
  static InputBounds of(std::span<const TensorInfo> declared, std::size_t count, std::span<const Bound> bounds,
                        std::string device);

  [[nodiscard]] bool empty() const { return bounds_.empty(); }

  // Checks inputs that match the declarations. kUnsupported names the input, the number, its position and the bounds.
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
