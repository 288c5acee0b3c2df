// SparseVector: a text's weights for the entries of the vocabulary, of which most are zero.
//
// Source: Formal et al., "SPLADE: Sparse Lexical and Expansion Model for First Stage Ranking" (2021), as
// sentence-transformers' SpladePooling computes it. Values and pure functions, for any thread.
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

// From the largest number of each entry of the vocabulary to its weight.
struct SparseRule {
  bool log_twice = false;  // log(1 + log(1 + x)) instead of log(1 + x)
  std::size_t most = 0;    // only so many weights, the largest; 0: all
};

// x ≤ 0 has no weight; what is not a number stays one.
void read_sparse(std::span<const float> term_logits, const SparseRule& rule, SparseVector& out);

// Leaves the `most` largest weights; of equal ones those with the lower indices.
void keep_largest(SparseVector& vector, std::size_t most);

}  // namespace latebind::embedding
