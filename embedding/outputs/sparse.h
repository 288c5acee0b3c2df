// SparseOutput: weights for some entries of the vocabulary, from a network for masked language modelling or from a
// table; or the largest numbers of a sparse autoencoder. Immutable; safe for concurrent use.
//
// Source: sentence-transformers' SpladePooling, SparseStaticEmbedding and SparseAutoEncoder.
#pragma once

#include <optional>
#include <vector>

#include "embedding/outputs/output.h"

namespace latebind::embedding {

class SparseOutput final : public Output {
 public:
  struct Parameters {
    SparseRule rule{};
    // Set if the network has a head with a number for each entry of the vocabulary.
    std::optional<VocabularyHead> head = std::nullopt;
    // Otherwise these modules compute the numbers from the text's vector.
    graph::PoolingMode pooling = graph::PoolingMode::kMax;
    std::vector<VectorModule> modules{};
  };
  explicit SparseOutput(Parameters parameters);

  [[nodiscard]] NetworkEnd end(bool from_states) const override;
  [[nodiscard]] core::Result<ModelEnd> find_end(const OnnxFile& file, bool from_states) const override;
  void take(std::span<const float> numbers, const ModelEnd& end, const RowTokens& tokens, RowTarget target,
            std::vector<float>& scratch) const override;
  void look_up(const TermTable& table, std::span<const std::int32_t> ids, SparseVector& to) const override {
    table.weigh(ids, parameters_.rule, to);
  }
  [[nodiscard]] graph::PoolingMode pooling() const override { return parameters_.pooling; }
  [[nodiscard]] core::Json describe() const override;

  // Returns the rule that turns the network's numbers into weights.
  [[nodiscard]] const SparseRule& rule() const { return parameters_.rule; }

 private:
  const Parameters parameters_;
};

extern const OutputKind kSparseOutput;

}  // namespace latebind::embedding
