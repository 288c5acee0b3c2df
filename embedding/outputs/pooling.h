// Pooling: from token vectors to a text's vector, as the models of sentence-transformers define it, for models whose
// graph does not pool by itself; and what a vector must be. Pure functions on f32, for any thread.
#pragma once

#include <cstddef>
#include <span>

#include "core/graph/operators.h"

namespace latebind::embedding {

using graph::PoolingMode;

// `states` holds the vectors of a text's real tokens only (no padding), out.size() floats each, at least one of them:
// the tokens that the attention mask keeps. Those before `from`, which is less than their number, are left out, and
// counted as positions all the same.
//   mean        sum / max(count, 1e-9); or sum / √count; or with the weights 1, 2, 3 …
//   max, cls    largest of each component, or NaN; the first token's vector
//   last token  the vector of the last real token
void pool(PoolingMode mode, std::span<const float> states, std::span<float> out, std::size_t from = 0);

// Scales to Euclidean length 1; vectors shorter than 1e-12 are divided by that instead.
void normalize(std::span<float> vector);

// The same for a vector that a device has normalised in less than f32 (f16 gives lengths of 0.9996 to 1.0003): after
// it the length is within 1e-6 of 1. One that is so already keeps its bits, and so does one that has no length: zero,
// or not finite.
void correct_length(std::span<float> vector);

[[nodiscard]] bool is_zero(std::span<const float> vector);

// False when a number is infinite or NaN.
[[nodiscard]] bool is_finite(std::span<const float> vector);

}  // namespace latebind::embedding
