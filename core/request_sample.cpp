#include "core/request_sample.h"

#include <algorithm>

namespace latebind::core {

std::shared_ptr<const RequestSample> RequestSample::of(std::span<const TensorView> inputs) {
  auto sample = std::make_shared<RequestSample>();
  std::size_t total = 0;
  for (const TensorView& input : inputs) {
    const auto bytes = byte_size_of(input.type, input.shape);
    if (!bytes.ok() || (total += *bytes) > kBytesMax) return nullptr;
    auto& buffer = sample->buffers_.emplace_back(std::max<std::size_t>(*bytes, 1));
    if (!input.copy_to_contiguous(buffer.data()).ok()) return nullptr;
    sample->views_.push_back({buffer.data(), input.type, input.shape, {}});
  }
  return sample;
}

}  // namespace latebind::core
