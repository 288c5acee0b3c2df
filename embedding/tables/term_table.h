// TermTable: a weight for each entry of a vocabulary. It gives a text's sparse vector without a network: the weight of
// each distinct token.
//
// Source: sentence-transformers' SparseStaticEmbedding. Immutable after construction; any thread may read.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "core/result.h"
#include "embedding/outputs/sparse_vector.h"
#include "embedding/weights/tensor_file.h"

namespace latebind::embedding {

class TermTable {
 public:
  // Reads the table. Returns kInvalidModel if the file has no such table or a weight is negative or not finite, and
  // kUnsupported for another type of weights.
  static core::Result<TermTable> read(const TensorFile& file);

  [[nodiscard]] std::size_t size() const { return weights_.size(); }
  // Writes the nonzero weights of `ids`, all below size(), to `out`; at most rule.most of them.
  void weigh(std::span<const std::int32_t> ids, const SparseRule& rule, SparseVector& out) const;

 private:
  explicit TermTable(std::vector<float> weights) : weights_(std::move(weights)) {}

  std::vector<float> weights_;
};

}  // namespace latebind::embedding
