// Human-readable amounts.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace latebind::cli {

[[nodiscard]] inline double mebibytes(std::uint64_t bytes) {
  return static_cast<double>(bytes) / (1 << 20);
}

// "1 text", "2 texts"
[[nodiscard]] inline std::string counted(std::uint64_t count, std::string_view what) {
  return std::to_string(count) + " " + std::string(what) + (count == 1 ? "" : "s");
}

}  // namespace latebind::cli
