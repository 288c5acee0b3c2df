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
#include "embedding/multi_vector_encoder.h"
#include "embedding/prompts.h"

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

// The same by a multi-vector encoder. The prompts stand instead of the model's markers, where they are chosen.
[[nodiscard]] core::Result<MatchReport> rank_lines_late(const RankOptions& options, TextReader& reader,
                                                        const embedding::MultiVectorEncoder& encoder,
                                                        const embedding::PromptChoice& query_prompt = {},
                                                        const embedding::PromptChoice& prompt = {});

}  // namespace latebind::cli
