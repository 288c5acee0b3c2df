// Ranks the lines of a file for a query with any function that scores documents.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "cli/data/text_reader.h"
#include "cli/terminal/matches.h"
#include "core/result.h"
#include "embedding/comparison.h"
#include "embedding/inputs/prompts.h"
#include "embedding/multi_vector_encoder.h"

namespace latebind::cli {

// Writes one score per document.
using ScoreDocuments = std::function<core::Result<embedding::EmbedStats>(std::span<const std::string_view> documents,
                                                                         std::span<float> scores)>;

struct RankOptions {
  std::string query;
  std::size_t count = 1;  // how many lines are kept
  bool quiet = false;
};
// Reads all lines except empty ones and scores them in groups, so that memory is bounded.
[[nodiscard]] core::Result<MatchReport> rank_lines(const RankOptions& options, TextReader& reader,
                                                   const ScoreDocuments& score);

// Returns a function that scores with a multi-vector encoder. The encoder and the texts that the prompts refer to must
// outlive it. Prompts, if chosen, replace the model's markers. Returns the errors of encoding the query.
[[nodiscard]] core::Result<ScoreDocuments> multi_vector_scores(const embedding::MultiVectorEncoder& encoder,
                                                               const std::string& query,
                                                               const embedding::PromptChoice& query_prompt = {},
                                                               const embedding::PromptChoice& prompt = {});

// The same with any comparison of results. The network must outlive it.
[[nodiscard]] core::Result<ScoreDocuments> compared_scores(const embedding::Embedder& network,
                                                           const embedding::Comparison& comparison,
                                                           const std::string& query,
                                                           const embedding::PromptChoice& query_prompt,
                                                           const embedding::PromptChoice& prompt);

}  // namespace latebind::cli
