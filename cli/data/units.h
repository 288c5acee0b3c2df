// Converts amounts to the units that people read.
#pragma once

#include <cstdint>

namespace latebind::cli {

[[nodiscard]] inline double mebibytes(std::uint64_t bytes) {
  return static_cast<double>(bytes) / (1 << 20);
}

}  // namespace latebind::cli
