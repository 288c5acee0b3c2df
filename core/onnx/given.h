// Assumptions about the numbers that a caller gives, and the range that they imply. Pure functions, for any thread.
#pragma once

#include <cstdint>
#include <optional>

#include "core/onnx/value_range.h"

namespace latebind::onnx {

// How much is assumed, in ascending order, except kFlags.
enum class Care : std::uint8_t {
  kNothing,
  kFits,      // integers in 32 bits, floating-point numbers that are finite and not huge
  kOrdinary,  // what models are usually given
  kFlags,     // integers that models calculate with are 0 and 1, as in a mask
};

// Returns the range of an input of this type. `indices` is the length of the table that the input looks up, if it does.
[[nodiscard]] ValueRange given(core::ElementType type, Care care, std::optional<std::int64_t> indices);

}  // namespace latebind::onnx
