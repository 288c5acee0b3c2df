// Comparison: how the results of a query and of documents become scores: by the vectors of their tokens (MaxSim), or by
// the mixed score of models that give three kinds of results, such as bge-m3. A value; safe for concurrent use.
//
// Source of the mixed score: FlagEmbedding's compute_score(): (d · dense + s · sparse + m · multi_vector) / (d + s +
// m), where dense is the product of the texts' vectors, sparse that of their sparse vectors, and multi_vector the mean
// of the best products of the query's token vectors.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.h"
#include "embedding/outputs/output.h"
#include "embedding/results.h"

namespace latebind::embedding {

// The weights of the mixed score; the defaults are those that the card of bge-m3 recommends.
struct MixedWeights {
  float dense = 0.4F;
  float sparse = 0.2F;
  float multi_vector = 0.4F;

  // Makes weights of three numbers. Returns kInvalidArgument if one is negative or not finite, or all are 0.
  static core::Result<MixedWeights> of(std::span<const double> numbers);
  // The same of a text: "0.4,0.2,0.4".
  static core::Result<MixedWeights> parse(std::string_view text);
};

// The outputs that a model must be opened for, so that it can be compared with `has` outputs: all three of the mixed
// score, or its own, `multi_vector`. Empty if it gives nothing of the kind.
[[nodiscard]] std::vector<std::string> compared_outputs(const OutputList& has);

class Comparison {
 public:
  // Returns the comparison of a model that was opened for these outputs, or std::nullopt if it has none.
  static std::optional<Comparison> of(std::span<const BoundOutput> outputs, const MixedWeights& weights = {});

  [[nodiscard]] bool is_mixed() const { return outputs_.size() > 1; }
  // The outputs of the query and of the documents that are compared.
  [[nodiscard]] std::span<const std::string> outputs() const { return outputs_; }
  // Returns the score of each document. Both have the results of outputs(), in their order; the query is one text.
  [[nodiscard]] std::vector<float> scores(std::span<const OutputResult> query,
                                          std::span<const OutputResult> documents) const;

 private:
  std::vector<std::string> outputs_;
  MixedWeights weights_;
  std::shared_ptr<const Output> multi_vector_;
};

}  // namespace latebind::embedding
