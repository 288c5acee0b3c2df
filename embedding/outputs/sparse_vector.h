// SparseVector: a text's weights for the entries of the vocabulary, of which most are zero.
//
// Source: Formal et al., "SPLADE: Sparse Lexical and Expansion Model for First Stage Ranking" (2021), with the sum over
// a text's tokens, and "SPLADE v2" (2021), with the largest, as sentence-transformers' SpladePooling computes them.
// Values and pure functions, for any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace latebind::embedding {

struct SparseVector {
  std::vector<std::uint32_t> indices{};  // rising: ids of the vocabulary
  std::vector<float> values{};           // of each, never zero

  friend bool operator==(const SparseVector&, const SparseVector&) = default;
};

// From a number of each entry of the vocabulary to its weight: of each token, or the largest of a text's.
struct SparseRule {
  bool log_twice = false;  // log(1 + log(1 + x)) instead of log(1 + x)
  bool sums = false;       // the sum of all tokens' weights instead of the largest
  std::size_t most = 0;    // only so many weights, the largest; 0: all
};

// x ≤ 0 has no weight; what is not a number stays one.
void read_sparse(std::span<const float> term_logits, const SparseRule& rule, SparseVector& out);

// The same of the numbers of each token, one token after the other, each as many as `sums` has room for.
void sum_sparse(std::span<const float> term_logits, const SparseRule& rule, std::span<float> sums, SparseVector& out);

// Their product: how well a document answers a query.
[[nodiscard]] double dot(const SparseVector& a, const SparseVector& b);

// Leaves the `most` largest weights; of equal ones those with the lower indices.
void keep_largest(SparseVector& vector, std::size_t most);

}  // namespace latebind::embedding
