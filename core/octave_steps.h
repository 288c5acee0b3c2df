// Rounds sizes up in steps: there are few different sizes, and none is much larger than needed.
//
// For resources that cost something for each size that was seen, such as the shapes of tensors. Pure functions, for any
// thread.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>

namespace latebind::core {

// Returns `size` rounded up. There are `steps_in_octave` sizes between each power of two and the next, but no two sizes
// are closer than `step_min`. Both must be powers of two. The result exceeds `size` by at most size / steps_in_octave
// or step_min - 1, whichever is larger.
[[nodiscard]] constexpr std::size_t in_octave_steps(std::size_t size, std::size_t steps_in_octave,
                                                    std::size_t step_min = 1) {
  const std::size_t step = std::max(step_min, std::bit_ceil(size) / (2 * steps_in_octave));
  return (size + step - 1) / step * step;
}

}  // namespace latebind::core
