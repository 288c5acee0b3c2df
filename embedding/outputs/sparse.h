// SparseOutput: weights for some entries of the vocabulary, from a network for masked language modelling or from a
// table. Immutable; safe for concurrent use.
//
// Source: sentence-transformers' SpladePooling and SparseStaticEmbedding.
#pragma once

#include <optional>
#include <vector>

#include "embedding/outputs/output.h"

namespace latebind::embedding {

class SparseOutput final : public Output {
 public:
  // `head` is set if the network is known.
  SparseOutput(const SparseRule& rule, std::optional<VocabularyHead> head);

  [[nodiscard]] NetworkEnd end(bool from_states) const override;
  [[nodiscard]] core::Result<ModelEnd> find_end(const OnnxFile& file, bool from_states) const override;
  void take(std::span<const float> numbers, const ModelEnd& end, const RowTokens& tokens, RowTarget target,
            std::vector<float>& scratch) const override;
  void look_up(const TermTable& table, std::span<const std::int32_t> ids, SparseVector& to) const override {
    table.weigh(ids, rule_, to);
  }
  [[nodiscard]] graph::PoolingMode pooling() const override { return graph::PoolingMode::kMax; }
  [[nodiscard]] core::Json describe() const override;

  // The rule from the network's numbers to weights.
  [[nodiscard]] const SparseRule& rule() const { return rule_; }

 private:
  const SparseRule rule_;
  const std::optional<VocabularyHead> head_;
};

extern const OutputKind kSparseOutput;

}  // namespace latebind::embedding
