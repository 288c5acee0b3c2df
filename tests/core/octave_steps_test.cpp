#include "core/octave_steps.h"

#include <gtest/gtest.h>

#include <set>

namespace latebind::core {
namespace {

TEST(OctaveStepsTest, AnOctaveHasSoManySizes) {
  for (const std::size_t steps : {1U, 4U, 8U, 16U}) {
    std::set<std::size_t> sizes;
    for (std::size_t size = 257; size <= 512; ++size)
      sizes.insert(in_octave_steps(size, steps));
    EXPECT_EQ(sizes.size(), steps);
    EXPECT_EQ(*sizes.rbegin(), 512U);
  }
}

TEST(OctaveStepsTest, ASizeIsTheNextOneThatHoldsAsMuch) {
  std::size_t before = 0;
  for (std::size_t size = 0; size <= 5000; ++size) {
    for (const std::size_t step_min : {1U, 8U}) {
      const std::size_t rounded = in_octave_steps(size, 8, step_min);
      EXPECT_GE(rounded, size);
      EXPECT_LT(rounded - size, std::max(step_min, size / 8 + 1)) << size;
      EXPECT_EQ(rounded % step_min, 0U);
      EXPECT_EQ(in_octave_steps(rounded, 8, step_min), rounded);
    }
    EXPECT_GE(in_octave_steps(size, 8), before);
    before = in_octave_steps(size, 8);
  }
  EXPECT_EQ(in_octave_steps(13, 8), 13U);
  EXPECT_EQ(in_octave_steps(17, 8), 18U);
  EXPECT_EQ(in_octave_steps(13, 8, 8), 16U);
}

}  // namespace
}  // namespace latebind::core
