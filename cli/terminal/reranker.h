// Reranker is a model that scores how well a text answers a query: a cross-encoder, a multi-vector encoder, or a model
// with a mixed score.
//
// It owns the model. The runtime that loaded the model must outlive it. For one thread.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "cli/terminal/parser.h"
#include "cli/terminal/rank_lines.h"
#include "core/result.h"
#include "embedding/comparison.h"
#include "embedding/cross_encoder.h"
#include "embedding/multi_vector_encoder.h"

namespace latebind::cli {

class Reranker {
 public:
  struct Options {
    bool raw_scores = false;                                    // a cross-encoder's numbers, unchanged
    std::optional<embedding::MixedWeights> mix = std::nullopt;  // only for a model with a mixed score
    // The instruction of a cross-encoder, instead of the model's default; "" for no instruction.
    std::optional<std::string> instruction = std::nullopt;
  };
  // Makes a reranker of a network that open_comparing() opened. `model` is its name for messages. Returns
  // kInvalidArgument or kUnsupported for a model that gives no scores.
  static core::Result<std::unique_ptr<Reranker>> of(std::unique_ptr<embedding::Embedder> network,
                                                    const std::string& model, const Options& options);

  [[nodiscard]] const embedding::Embedder& network() const {
    return pairs_ ? pairs_->network() : late_ ? late_->network() : *mixed_;
  }
  // Returns a function that scores texts for this query. It refers to the reranker. Returns the errors of encoding the
  // query.
  [[nodiscard]] core::Result<ScoreDocuments> scores(const std::string& query,
                                                    const embedding::PromptChoice& query_prompt = {},
                                                    const embedding::PromptChoice& prompt = {}) const;

 private:
  Reranker() = default;

  // Exactly one of these is set.
  std::unique_ptr<embedding::CrossEncoder> pairs_;
  std::unique_ptr<embedding::MultiVectorEncoder> late_;
  std::unique_ptr<embedding::Embedder> mixed_;
  std::optional<embedding::Comparison> comparison_;  // of mixed_
  bool raw_scores_ = false;
  std::optional<std::string> instruction_;
};

// Adds --mix, the weights of a mixed score.
void add_mix(Command& app, std::string& mix);
// Adds the option --instruct.
void add_instruct(Command& app, std::optional<std::string>& instruction);

}  // namespace latebind::cli
