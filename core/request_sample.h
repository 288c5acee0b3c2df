// RequestSample: a copy of a request's inputs that outlives it, for running them again. Immutable; any thread.
#pragma once

#include <cstddef>
#include <deque>
#include <memory>
#include <span>
#include <vector>

#include "core/tensor.h"

namespace latebind::core {

class RequestSample {
 public:
  // Inputs larger than this, all together, are not kept.
  static constexpr std::size_t kBytesMax = std::size_t{64} << 20;

  // Null when the inputs are too large to keep.
  static std::shared_ptr<const RequestSample> of(std::span<const TensorView> inputs);

  [[nodiscard]] std::span<const TensorView> views() const { return views_; }

 private:
  std::deque<std::vector<std::byte>> buffers_;
  std::vector<TensorView> views_;
};

}  // namespace latebind::core
