// Pooling: computes a text's vector from token vectors, as the models of sentence-transformers define it, for models
// whose graph does not pool. Also normalizes and checks vectors. Pure functions on f32; any thread may call them.
#pragma once

#include <cstddef>
#include <span>

#include "core/graph/operators.h"

namespace latebind::embedding {

using graph::PoolingMode;

// Pools `states`, the vectors of a text's real tokens (those that the attention mask keeps), out.size() floats each, at
// least one. The tokens before `from`, which is less than their number, are left out, but count as positions.
//   mean        sum / max(count, 1e-9); or sum / √count; or with the weights 1, 2, 3 …
//   max, cls    largest of each component, or NaN; the first token's vector
//   last token  the vector of the last real token
void pool(PoolingMode mode, std::span<const float> states, std::span<float> out, std::size_t from = 0);

// Scales the vector to Euclidean length 1. Vectors shorter than 1e-12 are divided by 1e-12 instead.
void normalize(std::span<float> vector);

// The same for a vector that a device normalised in less than f32 (f16 gives lengths of 0.9996 to 1.0003). Afterwards
// the length is within 1e-6 of 1. The vector keeps its bits if its length is right already or is not finite.
void correct_length(std::span<float> vector);

[[nodiscard]] bool is_zero(std::span<const float> vector);

// Returns false if a number is infinite or NaN.
[[nodiscard]] bool is_finite(std::span<const float> vector);

}  // namespace latebind::embedding
