// What is asked of the numbers that a caller gives, and the range that they have then. Pure functions; any thread.
#pragma once

#include <cstdint>
#include <optional>

#include "core/onnx/value_range.h"

namespace latebind::onnx {

// In ascending order, but for kFlags.
enum class Care : std::uint8_t {
  kNothing,
  kFits,      // integers in 32 bits, floating-point numbers that are finite and not huge
  kOrdinary,  // what models are given
  kFlags,     // of integers that models calculate with: 0 and 1, as a mask has them
};

// The range of an input of this type. `indices`: the length of the table that the input looks up, if it does.
[[nodiscard]] ValueRange given(core::ElementType type, Care care, std::optional<std::int64_t> indices);

}  // namespace latebind::onnx
