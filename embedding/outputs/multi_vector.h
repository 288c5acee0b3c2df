// MultiVectorOutput: a vector for each token of a text (late interaction, ColBERT). Texts are compared by the best
// products of these vectors. Immutable; safe for concurrent use.
//
// Source: sentence-transformers' MultiVectorEncoder, PyLate, and Stanford's ColBERT.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "embedding/outputs/output.h"

namespace latebind::embedding {

class MultiVectorOutput final : public Output {
 public:
  struct Parameters {
    std::vector<VectorModule> modules{};  // applied to each token's vector
    bool normalize = false;
    bool compares_by_mean = false;  // compare by the mean of the best products instead of their sum
    // The model is Stanford's ColBERT, whose projection is among the network's weights.
    bool is_stanford = false;
    std::size_t dimension = 0;  // of a vector; 0 if no file declares it
  };
  explicit MultiVectorOutput(Parameters parameters);

  [[nodiscard]] NetworkEnd end(bool from_states) const override;
  [[nodiscard]] core::Result<ModelEnd> find_end(const OnnxFile& file, bool from_states) const override;
  void take(std::span<const float> numbers, const ModelEnd& end, const RowTokens& tokens, RowTarget target,
            std::vector<float>& scratch) const override;
  [[nodiscard]] core::Json describe() const override;

  [[nodiscard]] bool normalizes_tokens() const { return parameters_.normalize; }
  [[nodiscard]] std::size_t dimension() const { return parameters_.dimension; }
  [[nodiscard]] bool compares_by_mean() const { return parameters_.compares_by_mean; }
  // Returns the score of a document for a query: max_sim() or mean_max_sim() of their vectors.
  [[nodiscard]] float compare(std::span<const float> query, std::span<const float> document,
                              std::size_t dimension) const;

 private:
  const Parameters parameters_;
};

extern const OutputKind kMultiVectorOutput;

}  // namespace latebind::embedding
