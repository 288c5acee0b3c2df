// Results: the results of an encoder for a list of inputs, one for each requested output.
//
// A result has one of three forms. Values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <variant>
#include <vector>

#include "core/placement/attestation.h"
#include "embedding/embed_stats.h"
#include "embedding/outputs/sparse_vector.h"

namespace latebind::embedding {

// One row of `dimension` numbers for each input, such as a vector or its scores.
struct Rows {
  std::size_t dimension = 0;
  std::vector<float> numbers{};
};

// The weights of some of the vocabulary's entries, for each input.
struct SparseRows {
  std::vector<SparseVector> vectors{};
};

// The vectors of the tokens of each input, one input after the other.
struct RaggedRows {
  std::size_t dimension = 0;
  std::vector<float> numbers{};
  std::vector<std::size_t> begins{0};  // input i has the vectors begins[i] to begins[i + 1] - 1

  [[nodiscard]] std::size_t size() const { return begins.size() - 1; }
  [[nodiscard]] std::span<const float> of(std::size_t input) const {
    return std::span(numbers).subspan(begins[input] * dimension, (begins[input + 1] - begins[input]) * dimension);
  }
};

// A view of one result, in memory of another object. Only the members of the result's form are used.
struct ResultWindow {
  std::span<const float> vectors{};  // the rows, one after the other
  std::span<const SparseVector> sparse{};
  std::span<const std::uint32_t> vector_counts{};  // for ragged rows: the number of rows of each input
};

using OutputResult = std::variant<Rows, SparseRows, RaggedRows>;

struct Results {
  std::vector<OutputResult> outputs{};  // in the order of the request
  EmbedStats stats{};
};

}  // namespace latebind::embedding
