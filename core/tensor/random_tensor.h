// Random values for a model's inputs. Pure functions; the same seed gives the same bytes on every machine.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "core/tensor/tensor.h"

namespace latebind::core {

// Fills `bytes` with elements of `type`. Floats are multiples of 1/128 from -1 to 1, which every floating-point type
// represents exactly. Integers are 0 or 1, or, if `integer_most` (at most 127) is above 1, 1 to `integer_most`.
// Booleans are false or true.
void fill_random(ElementType type, std::uint64_t seed, std::span<std::byte> bytes, unsigned integer_most = 1);

}  // namespace latebind::core
