// TermTable: weights of the entries of a vocabulary, by which a text gets a sparse vector without a network: each token
// that it has, once.
//
// Source: sentence-transformers' SparseStaticEmbedding. Constant after it is read; any thread.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "core/result.h"
#include "embedding/outputs/sparse_vector.h"
#include "embedding/safetensors.h"

namespace latebind::embedding {

class TermTable {
 public:
  // kInvalidModel for what is no such table, and for weights that are negative or not finite; kUnsupported for another
  // type of them.
  static core::Result<TermTable> read(const Safetensors& file);

  [[nodiscard]] std::size_t size() const { return weights_.size(); }
  // Of ids below size(): the weights that are not zero, at most as many as `rule` says.
  void weigh(std::span<const std::int32_t> ids, const SparseRule& rule, SparseVector& out) const;

 private:
  explicit TermTable(std::vector<float> weights) : weights_(std::move(weights)) {}

  std::vector<float> weights_;
};

}  // namespace latebind::embedding
