// VectorShape: how the results of one call differ from the output's rows: fewer dimensions, or length 1.
//
// A value; safe for concurrent use.
#pragma once

#include <cstddef>
#include <span>

#include "core/result.h"
#include "embedding/inputs/text_options.h"
#include "embedding/outputs/output.h"

namespace latebind::embedding {

class VectorShape {
 public:
  // Returns the shape for a call. Returns kInvalidArgument for options that do not fit the output's results, such as
  // more dimensions.
  static core::Result<VectorShape> of(const BoundOutput& output, const TextOptions& options);

  // The number of floats in a row; 0 for sparse rows.
  [[nodiscard]] std::size_t dimensions() const { return dimensions_; }
  // Returns whether rows stay as the output gives them.
  [[nodiscard]] bool is_as_computed() const { return dimensions_ == computed_ && !normalize_; }
  // Turns the output's rows into rows of dimensions() floats.
  void write(std::span<const float> computed, std::span<float> out) const;

 private:
  std::size_t computed_ = 0;
  std::size_t dimensions_ = 0;
  bool normalize_ = false;
};

}  // namespace latebind::embedding
