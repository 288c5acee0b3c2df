// TokenVectorsOutput: the network's vector for each token of a text, neither pooled nor normalised. Immutable; safe for
// concurrent use.
#pragma once

#include "embedding/outputs/output.h"

namespace latebind::embedding {

class TokenVectorsOutput final : public Output {
 public:
  TokenVectorsOutput();

  [[nodiscard]] NetworkEnd end(bool from_states) const override;
  [[nodiscard]] core::Result<ModelEnd> find_end(const OnnxFile& file, bool from_states) const override;
  void take(std::span<const float> numbers, const ModelEnd& end, const RowTokens& tokens, RowTarget target,
            std::vector<float>& scratch) const override;
  [[nodiscard]] core::Json describe() const override;
};

// Accompanies the first output of every model that has a network.
extern const OutputKind kTokenVectorsOutput;

// Copies the vectors of the tokens that have one, in order, to `to`. Returns the end of the written numbers.
float* take_token_vectors(std::span<const float> numbers, std::size_t dimension, const RowTokens& tokens, float* to);

}  // namespace latebind::embedding
