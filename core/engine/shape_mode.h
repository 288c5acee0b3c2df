// Whether a model that can take any length is compiled once for all lengths, or several times for static lengths.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "core/config.h"

namespace latebind::core {

// kAutoShapes selects static shapes if the device needs them: an NPU, or one that says so (DeviceTraits).
enum class ShapeMode : std::int32_t { kAutoShapes = 0, kDynamicShapes = 1, kStaticShapes = 2 };
template <>
struct Words<ShapeMode> {
  static constexpr std::string_view kWhat = "shape mode";
  static constexpr std::array kWords{Word<ShapeMode>{"auto", ShapeMode::kAutoShapes},
                                     Word<ShapeMode>{"dynamic", ShapeMode::kDynamicShapes},
                                     Word<ShapeMode>{"static", ShapeMode::kStaticShapes}};
};

}  // namespace latebind::core
