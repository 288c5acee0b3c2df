// The words of a placement that name no backend: kinds of devices, best first, and the one for all of them.
#pragma once

#include <array>
#include <string_view>

namespace latebind::core {

inline constexpr std::array<std::string_view, 4> kPlacementWords{"auto", "npu", "gpu", "cpu"};

// What other programs call a GPU.
inline constexpr std::array<std::string_view, 4> kGpuElsewhere{"cuda", "rocm", "xpu", "mps"};

}  // namespace latebind::core
