// Reranker is a model that scores how well a text answers a query: a cross-encoder or a multi-vector encoder.
//
// It owns the model. The runtime that loaded the model must outlive it. For one thread.
#pragma once

#include <memory>
#include <string>

#include "cli/terminal/rank_lines.h"
#include "core/result.h"
#include "embedding/cross_encoder.h"
#include "embedding/multi_vector_encoder.h"

namespace latebind::cli {

class Reranker {
 public:
  // Makes a reranker of an open network. `model` is its name for messages. `raw_scores` returns a cross-encoder's
  // numbers unchanged. Returns kInvalidArgument or kUnsupported for a model that gives no scores.
  static core::Result<std::unique_ptr<Reranker>> of(std::unique_ptr<embedding::Embedder> network,
                                                    const std::string& model, bool raw_scores = false);

  [[nodiscard]] const embedding::Embedder& network() const { return pairs_ ? pairs_->network() : late_->network(); }
  // Returns a function that scores texts for this query. It refers to the reranker. Returns the errors of encoding the
  // query.
  [[nodiscard]] core::Result<ScoreDocuments> scores(const std::string& query) const;

 private:
  Reranker() = default;

  // Exactly one of these is set.
  std::unique_ptr<embedding::CrossEncoder> pairs_;
  std::unique_ptr<embedding::MultiVectorEncoder> late_;
  bool raw_scores_ = false;
};

}  // namespace latebind::cli
