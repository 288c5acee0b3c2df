// DenseOutput: a vector for each text. Immutable; safe for concurrent use.
//
// Source: sentence-transformers' Pooling, Dense, LayerNorm and Normalize.
#pragma once

#include <cstddef>
#include <string_view>
#include <utility>
#include <vector>

#include "embedding/outputs/output.h"

namespace latebind::embedding {

class DenseOutput final : public Output {
 public:
  struct Parameters {
    graph::PoolingMode pooling = graph::PoolingMode::kMean;
    std::string_view pooler{};  // NetworkEnd::pooler, a literal
    std::vector<VectorModule> modules{};
    bool normalize = false;
    // The network gives token vectors, which take() pools, because the pooling leaves out the tokens of a prompt.
    bool pools_here = false;
    // The number of leading values of each vector that callers get by default; 0: all.
    std::size_t kept_dimensions = 0;
    // The shorter dimensions for which the model was trained.
    std::vector<std::size_t> matryoshka_dimensions{};
  };
  explicit DenseOutput(Parameters parameters);

  [[nodiscard]] NetworkEnd end(bool from_states) const override;
  [[nodiscard]] core::Result<ModelEnd> find_end(const OnnxFile& file, bool from_states) const override;
  void take(std::span<const float> numbers, const ModelEnd& end, const RowTokens& tokens, RowTarget target,
            std::vector<float>& scratch) const override;
  void complete(std::span<float> row) const override;
  [[nodiscard]] std::size_t kept_of(std::size_t computed) const override;
  [[nodiscard]] bool pools_here() const override { return parameters_.pools_here; }
  [[nodiscard]] graph::PoolingMode pooling() const override { return parameters_.pooling; }
  [[nodiscard]] bool normalizes() const override { return parameters_.normalize; }
  [[nodiscard]] core::Json describe() const override;

  [[nodiscard]] const std::vector<std::size_t>& matryoshka_dimensions() const {
    return parameters_.matryoshka_dimensions;
  }

 private:
  const Parameters parameters_;
};

extern const OutputKind kDenseOutput;

}  // namespace latebind::embedding
