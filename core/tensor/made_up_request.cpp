#include "core/tensor/made_up_request.h"

#include <fmt/format.h>

#include <algorithm>

namespace latebind::core {

Result<MadeUpRequest> MadeUpRequest::make(std::span<const TensorInfo> inputs, std::span<const Shape> shapes) {
  if (inputs.size() != shapes.size()) {
    return Status(StatusCode::kInternal, fmt::format("{} shapes for {} inputs", shapes.size(), inputs.size()));
  }
  MadeUpRequest request;
  std::size_t total = 0;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    LB_ASSIGN_OR_RETURN(const std::size_t bytes, byte_size_of(inputs[i].type, shapes[i]));
    total += bytes;
    if (total > kBytesMax) return Status(StatusCode::kUnsupported, "these shapes are too large for generated values");
    auto& buffer = request.buffers_.emplace_back(std::max<std::size_t>(bytes, 1));
    request.views_.push_back({buffer.data(), inputs[i].type, shapes[i], {}});
  }
  return request;
}

}  // namespace latebind::core
