// Sizes that go up in steps: few different ones, and none much larger than what there is to hold.
//
// For what costs something for each size that it has met, such as the shapes of tensors. Pure functions, any thread.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>

namespace latebind::core {

// `size` rounded up: from each power of two to the next there are `steps_in_octave` sizes, a power of two as well, but
// no two closer to each other than `step_min`, which is one, too. At most 1 / steps_in_octave more, or step_min - 1.
[[nodiscard]] constexpr std::size_t in_octave_steps(std::size_t size, std::size_t steps_in_octave,
                                                    std::size_t step_min = 1) {
  const std::size_t step = std::max(step_min, std::bit_ceil(size) / (2 * steps_in_octave));
  return (size + step - 1) / step * step;
}

}  // namespace latebind::core
