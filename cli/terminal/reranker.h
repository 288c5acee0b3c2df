// Reranker: a model that says how well a text answers a query, of either kind: a cross-encoder or a multi-vector
// encoder.
//
// Owns the model; the runtime that loaded it must outlive it. One thread.
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
  // Of a network that was opened already; `model` is its name, for messages. `raw_scores`: the network's numbers as
  // they are, of a cross-encoder. kInvalidArgument and kUnsupported for what gives no score.
  static core::Result<std::unique_ptr<Reranker>> of(std::unique_ptr<embedding::Embedder> network,
                                                    const std::string& model, bool raw_scores = false);

  [[nodiscard]] const embedding::Embedder& network() const { return pairs_ ? pairs_->network() : late_->network(); }
  // For texts that answer this query. Refers to the reranker. The errors of encoding the query.
  [[nodiscard]] core::Result<ScoreDocuments> scores(const std::string& query) const;

 private:
  Reranker() = default;

  // One of them.
  std::unique_ptr<embedding::CrossEncoder> pairs_;
  std::unique_ptr<embedding::MultiVectorEncoder> late_;
  bool raw_scores_ = false;
};

}  // namespace latebind::cli
