// Statistics of measured times.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

namespace latebind::cli {

// Returns the percentile by nearest rank; `share` is 0 to 1. Returns 0 for no values.
[[nodiscard]] inline double percentile(std::vector<double> values, double share) {
  if (values.empty()) return 0;
  std::ranges::sort(values);
  const double rank = std::ceil(share * static_cast<double>(values.size()));
  const auto place = static_cast<std::size_t>(std::max(rank, 1.0)) - 1;
  return values[std::min(place, values.size() - 1)];
}

}  // namespace latebind::cli
