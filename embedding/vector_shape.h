// VectorShape: how a text's vector differs from what the model returns: fewer numbers, length 1.
//
// A value; any thread.
#pragma once

#include <cstddef>
#include <span>

#include "core/result.h"
#include "embedding/embedder.h"
#include "embedding/forward.h"

namespace latebind::embedding {

class VectorShape {
 public:
  // kInvalidArgument for more dimensions than the model has, kUnsupported for a model that keeps tokens.
  static core::Result<VectorShape> of(const Forward& forward, const TextOptions& options);
  // Of a model that does: always as computed. kInvalidArgument for other dimensions than the model's.
  static core::Result<VectorShape> of_tokens(const Forward& forward, const TextOptions& options);

  // Of a model that gives sparse vectors: as computed, with no floats to count. kInvalidArgument for what they do not
  // have, kUnsupported for other models.
  static core::Result<VectorShape> of_sparse(const Forward& forward, const TextOptions& options);

  // The one of these that the model is for.
  static core::Result<VectorShape> of_any(const Forward& forward, const TextOptions& options);

  // Floats of a vector.
  [[nodiscard]] std::size_t dimensions() const { return dimensions_; }
  // Whether vectors stay as the model returns them.
  [[nodiscard]] bool is_as_computed() const { return dimensions_ == computed_ && !normalize_; }
  // From rows that the model returned to rows of dimensions() floats.
  void write(std::span<const float> computed, std::span<float> out) const;

 private:
  std::size_t computed_ = 0;
  std::size_t dimensions_ = 0;
  bool normalize_ = false;
};

}  // namespace latebind::embedding
