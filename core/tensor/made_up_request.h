// MadeUpRequest: inputs of zeros, in shapes that a device has computed before if there are any. It is run to find out
// whether a device works, so that a caller's data is never kept or run again. Immutable; any thread may use it.
#pragma once

#include <cstddef>
#include <deque>
#include <span>
#include <vector>

#include "core/result.h"
#include "core/tensor/tensor.h"

namespace latebind::core {

class MadeUpRequest {
 public:
  // The largest size of all inputs together.
  static constexpr std::size_t kBytesMax = std::size_t{64} << 20;

  // Makes a request. `shapes` has one static shape for each input. kUnsupported when they take more than kBytesMax.
  static Result<MadeUpRequest> make(std::span<const TensorInfo> inputs, std::span<const Shape> shapes);

  [[nodiscard]] std::span<const TensorView> views() const { return views_; }

 private:
  std::deque<std::vector<std::byte>> buffers_;
  std::vector<TensorView> views_;
};

}  // namespace latebind::core
