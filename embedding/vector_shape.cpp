#include "embedding/vector_shape.h"

#include <fmt/format.h>

#include <algorithm>

#include "embedding/pooling.h"

namespace latebind::embedding {

core::Result<VectorShape> VectorShape::of_tokens(const Forward& forward, const TextOptions& options) {
  VectorShape shape;
  shape.computed_ = shape.dimensions_ = forward.dimension();
  if (options.dimensions == 0 || options.dimensions == shape.computed_) return shape;
  return core::Status(core::StatusCode::kInvalidArgument, fmt::format("the vectors of tokens have {} numbers, not {}",
                                                                      shape.computed_, options.dimensions));
}

core::Result<VectorShape> VectorShape::of(const Forward& forward, const TextOptions& options) {
  if (forward.keeps_tokens()) {
    return core::Status(core::StatusCode::kUnsupported, "the embedder gives the vectors of tokens, not of texts");
  }
  if (forward.gives_sparse()) {
    return core::Status(core::StatusCode::kUnsupported, "the model gives sparse vectors");
  }
  VectorShape shape;
  shape.computed_ = forward.dimension();
  shape.dimensions_ = options.dimensions > 0 ? options.dimensions : shape.computed_;
  if (shape.dimensions_ > shape.computed_) {
    return core::Status(
        core::StatusCode::kInvalidArgument,
        fmt::format("vectors of {} numbers were asked for; the model gives {}", shape.dimensions_, shape.computed_));
  }
  const bool is_cut = shape.dimensions_ < shape.computed_;
  shape.normalize_ = forward.normalizes() ? is_cut : options.normalize;
  return shape;
}

core::Result<VectorShape> VectorShape::of_sparse(const Forward& forward, const TextOptions& options) {
  if (!forward.gives_sparse()) {
    return core::Status(core::StatusCode::kUnsupported, "the model gives no sparse vectors");
  }
  if (options.dimensions == 0 && !options.normalize) return VectorShape();
  return core::Status(core::StatusCode::kInvalidArgument,
                      "sparse vectors have neither fewer dimensions nor another length");
}

core::Result<VectorShape> VectorShape::of_any(const Forward& forward, const TextOptions& options) {
  if (forward.keeps_tokens()) return of_tokens(forward, options);
  return forward.gives_sparse() ? of_sparse(forward, options) : of(forward, options);
}

void VectorShape::write(std::span<const float> computed, std::span<float> out) const {
  for (std::size_t row = 0; (row + 1) * computed_ <= computed.size(); ++row) {
    const std::span<float> to = out.subspan(row * dimensions_, dimensions_);
    std::ranges::copy(computed.subspan(row * computed_, dimensions_), to.begin());
    if (normalize_) normalize(to);
  }
}

}  // namespace latebind::embedding
