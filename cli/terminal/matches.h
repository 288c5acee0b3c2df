// Prints the lines that a command found for a query.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/index/find_texts.h"
#include "app/json_text.h"
#include "cli/data/nearest.h"
#include "cli/terminal/messages.h"
#include "core/placement/attestation.h"
#include "core/result.h"
#include "embedding/embed_stats.h"
#include "embedding/embedder.h"

namespace latebind::cli {

// The model that gave the matches their final scores, if not the first one.
struct RerankReport {
  std::string model{};
  std::shared_ptr<const core::Attestation> attestation{};
};

struct MatchReport {
  std::string query{};
  std::vector<Match> matches{};  // best first
  embedding::EmbedStats stats{};
  // Indexed by Match::file. Shown to people if they named more than one file.
  std::vector<std::string> files{};
  bool shows_files = false;
  std::optional<app::LeftOut> left_out{};
  app::Json index{};  // null without an index
  std::optional<RerankReport> reranked{};
};

// The form of a printed report.
struct MatchOutput {
  bool json = false;
  bool quiet = false;
};
// Prints the matches, notes about fallbacks, and the summary; it ends a command. `before` is the network's attestation
// when the work began, at `start`.
[[nodiscard]] Exit print_matches(const core::Result<MatchReport>& report, const embedding::Embedder& network,
                                 const core::Attestation& before, std::chrono::steady_clock::time_point start,
                                 const MatchOutput& output);

}  // namespace latebind::cli
