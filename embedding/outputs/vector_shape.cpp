#include "embedding/outputs/vector_shape.h"

#include <fmt/format.h>

#include <algorithm>

#include "embedding/outputs/pooling.h"

namespace latebind::embedding {

using core::Status;
using core::StatusCode;

core::Result<VectorShape> VectorShape::of(const BoundOutput& output, const TextOptions& options) {
  VectorShape shape;
  if (output.form() == ResultForm::kSparseRow) {
    if (options.dimensions == 0 && !options.normalize) return shape;
    return Status(StatusCode::kInvalidArgument, "sparse vectors have neither fewer dimensions nor another length");
  }
  shape.computed_ = output.computed();
  shape.dimensions_ = options.dimensions > 0 ? options.dimensions : output.dimension();
  if (output.form() == ResultForm::kRaggedRows) {
    if (shape.dimensions_ == shape.computed_) return shape;
    return Status(StatusCode::kInvalidArgument,
                  fmt::format("the vectors of tokens have {} numbers, not {}", shape.computed_, options.dimensions));
  }
  if (shape.dimensions_ > shape.computed_) {
    return Status(StatusCode::kInvalidArgument, fmt::format("vectors of {} numbers were asked for; the model gives {}",
                                                            shape.dimensions_, shape.computed_));
  }
  const bool is_cut = shape.dimensions_ < shape.computed_;
  shape.normalize_ = output.output->normalizes() ? is_cut : options.normalize;
  return shape;
}

void VectorShape::write(std::span<const float> computed, std::span<float> out) const {
  for (std::size_t row = 0; (row + 1) * computed_ <= computed.size(); ++row) {
    const std::span<float> to = out.subspan(row * dimensions_, dimensions_);
    std::ranges::copy(computed.subspan(row * computed_, dimensions_), to.begin());
    if (normalize_) normalize(to);
  }
}

}  // namespace latebind::embedding
