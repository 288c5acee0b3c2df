// MaxSim: scores a document for a query by their token vectors.
//
// Source: Khattab and Zaharia, "ColBERT" (2020), as sentence-transformers' maxsim() and mean_maxsim() compute it. Pure
// functions; any thread may call them.
#pragma once

#include <cstddef>
#include <span>

namespace latebind::embedding {

// The reference's score of a document without a vector, which is below all others.
inline constexpr float kNoDocument = -1e9F;

// Returns the sum, over the query's vectors, of each one's largest product with a vector of the document: kNoDocument
// for a document without vectors, else 0 for a query without vectors. Vectors have `dimension` numbers and follow each
// other. The result is NaN if a product is not finite.
[[nodiscard]] float max_sim(std::span<const float> query, std::span<const float> document, std::size_t dimension);

// Returns max_sim() divided by the number of the query's vectors.
[[nodiscard]] float mean_max_sim(std::span<const float> query, std::span<const float> document, std::size_t dimension);

}  // namespace latebind::embedding
