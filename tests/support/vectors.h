// What tests compare vectors with.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <span>

namespace latebind::test {

// Of two vectors of the same length.
inline double cosine(std::span<const float> a, std::span<const float> b) {
  EXPECT_EQ(a.size(), b.size());
  double dot = 0;
  double aa = 0;
  double bb = 0;
  for (std::size_t i = 0; i < a.size() && i < b.size(); ++i) {
    dot += static_cast<double>(a[i]) * static_cast<double>(b[i]);
    aa += static_cast<double>(a[i]) * static_cast<double>(a[i]);
    bb += static_cast<double>(b[i]) * static_cast<double>(b[i]);
  }
  return dot / std::sqrt(aa * bb);
}

}  // namespace latebind::test
