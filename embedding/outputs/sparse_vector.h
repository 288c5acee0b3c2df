// SparseVector: a text's weights for the entries of the vocabulary, most of them zero.
//
// Source: Formal et al., "SPLADE: Sparse Lexical and Expansion Model for First Stage Ranking" (2021), with the sum over
// a text's tokens, and "SPLADE v2" (2021), with the maximum, as sentence-transformers' SpladePooling computes them.
// Values and pure functions; any thread may use them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace latebind::embedding {

struct SparseVector {
  std::vector<std::uint32_t> indices{};  // ids of the vocabulary, ascending
  std::vector<float> values{};           // the weight of each id, never zero

  friend bool operator==(const SparseVector&, const SparseVector&) = default;
};

// The rule from the numbers of the vocabulary's entries to weights.
struct SparseRule {
  bool plain = false;      // x itself instead of log(1 + x)
  bool log_twice = false;  // log(1 + log(1 + x)) instead of log(1 + x)
  bool sums = false;       // the sum of all tokens' weights instead of the largest
  std::size_t most = 0;    // keep this many of the largest weights; 0 keeps all
};

// Computes the weights from one number for each entry of the vocabulary. Numbers x ≤ 0 have no weight; NaN stays NaN.
void read_sparse(std::span<const float> term_logits, const SparseRule& rule, SparseVector& out);

// The same for the numbers of each token, one token after the other, with sums.size() numbers each. Sums the weights of
// all tokens; `sums` is scratch memory.
void sum_sparse(std::span<const float> term_logits, const SparseRule& rule, std::span<float> sums, SparseVector& out);

// Returns the dot product: the score of a document for a query.
[[nodiscard]] double dot(const SparseVector& a, const SparseVector& b);

// Keeps the `most` largest weights; of equal ones, those with the lower indices.
void keep_largest(SparseVector& vector, std::size_t most);

}  // namespace latebind::embedding
