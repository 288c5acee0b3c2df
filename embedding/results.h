// Results: what an encoder gives for a list of inputs, one result for each output that was asked for.
//
// A result has one of three forms, whatever the output. Values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <variant>
#include <vector>

#include "core/attestation.h"
#include "embedding/embed_stats.h"
#include "embedding/outputs/sparse_vector.h"

namespace latebind::embedding {

// A vector for each input, or its scores: one after the other, `dimension` numbers each.
struct Rows {
  std::size_t dimension = 0;
  std::vector<float> numbers{};
};

// Weights of some of the vocabulary's entries, for each input.
struct SparseRows {
  std::vector<SparseVector> vectors{};
};

// A vector for each token of an input that has one: all of them one after the other.
struct RaggedRows {
  std::size_t dimension = 0;
  std::vector<float> numbers{};
  std::vector<std::size_t> begins{0};  // input i has the vectors from begins[i] to before begins[i + 1]

  [[nodiscard]] std::size_t size() const { return begins.size() - 1; }
  [[nodiscard]] std::span<const float> of(std::size_t input) const {
    return std::span(numbers).subspan(begins[input] * dimension, (begins[input + 1] - begins[input]) * dimension);
  }
};

using OutputResult = std::variant<Rows, SparseRows, RaggedRows>;

struct Results {
  std::vector<OutputResult> outputs{};  // in the order in which they were asked for
  EmbedStats stats{};
};

}  // namespace latebind::embedding
