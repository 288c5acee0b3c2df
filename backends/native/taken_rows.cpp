#include "backends/native/taken_rows.h"

#include <algorithm>

namespace latebind::native {

void take_columns(const TakeColumns& step, const Rows& x, std::size_t width, const MutableRows& y) {
  for (std::size_t r = 0; r < x.count; ++r) {
    float* to = y.data + r * y.stride;
    for (std::size_t i = step.first; i < width; i += step.width, to += step.count)
      std::copy_n(x.data + r * x.stride + i, step.count, to);
  }
}

void take_neighbours(const Neighbours& step, const Rows& x, std::size_t width, const MutableRows& y) {
  const std::size_t before = (step.count - 1) / 2;
  for (std::size_t t = 0; t < x.count; ++t) {
    for (std::size_t k = 0; k < step.count; ++k) {
      float* const to = y.data + t * y.stride + k;
      const bool is_inside = t + k >= before && t + k - before < x.count;
      const float* const from = is_inside ? x.data + (t + k - before) * x.stride : nullptr;
      for (std::size_t i = 0; i < width; ++i)
        to[i * step.count] = is_inside ? from[i] : 0.0F;
    }
  }
}

}  // namespace latebind::native
