// The lines of a file, ranked for a query by whatever gives documents scores.
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
#include "embedding/inputs/prompts.h"
#include "embedding/multi_vector_encoder.h"

namespace latebind::cli {

// Writes as many scores as there are documents.
using ScoreDocuments = std::function<core::Result<embedding::EmbedStats>(std::span<const std::string_view> documents,
                                                                         std::span<float> scores)>;

struct RankOptions {
  std::string query;
  std::size_t count = 1;  // of the best lines
  bool quiet = false;
};
// Reads all lines, but for empty ones, and scores them some after the other, so that memory stays bounded.
[[nodiscard]] core::Result<MatchReport> rank_lines(const RankOptions& options, TextReader& reader,
                                                   const ScoreDocuments& score);

// The scores of a multi-vector encoder, which must outlive them, as must what the prompts refer to. The prompts stand
// instead of the model's markers, where they are chosen. The errors of encoding the query.
[[nodiscard]] core::Result<ScoreDocuments> late_scores(const embedding::MultiVectorEncoder& encoder,
                                                       const std::string& query,
                                                       const embedding::PromptChoice& query_prompt = {},
                                                       const embedding::PromptChoice& prompt = {});

}  // namespace latebind::cli
