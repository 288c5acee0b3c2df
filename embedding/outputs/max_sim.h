// MaxSim: how well a document answers a query, by the vectors of their tokens.
//
// Source: Khattab and Zaharia, "ColBERT" (2020), as sentence-transformers' maxsim() and mean_maxsim() compute it. Pure
// functions, for any thread.
#pragma once

#include <cstddef>
#include <span>

namespace latebind::embedding {

// Of a document without a vector, below all that others have: the reference's.
inline constexpr float kNoDocument = -1e9F;

// The sum, over the query's vectors, of each one's largest product with one of the document's; 0 for a query without
// one. Vectors have `dimension` numbers, one after the other.
[[nodiscard]] float max_sim(std::span<const float> query, std::span<const float> document, std::size_t dimension);

// The same divided by the number of the query's vectors.
[[nodiscard]] float mean_max_sim(std::span<const float> query, std::span<const float> document, std::size_t dimension);

}  // namespace latebind::embedding
