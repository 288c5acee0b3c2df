// The lines of a file that a command found for a query, as it prints them.
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
#include "core/attestation.h"
#include "core/result.h"
#include "embedding/embed_stats.h"
#include "embedding/embedder.h"

namespace latebind::cli {

// Who gave the matches their last scores, where that is another model.
struct RerankReport {
  std::string model{};
  std::shared_ptr<const core::Attestation> attestation{};
};

struct MatchReport {
  std::string query{};
  std::vector<Match> matches{};  // best first
  embedding::EmbedStats stats{};
  // Of Match::file; people see them where they named more than one file.
  std::vector<std::string> files{};
  bool shows_files = false;
  std::optional<app::LeftOut> left_out{};
  app::Json index{};  // null without an index
  std::optional<RerankReport> reranked{};
};

// How a report is told.
struct MatchTelling {
  bool json = false;
  bool quiet = false;
};
// Prints what was found, and tells of fallbacks and the summary: the end of a command. `before`: what the network
// attested when the work began, at `start`.
[[nodiscard]] Exit tell_matches(const core::Result<MatchReport>& report, const embedding::Embedder& network,
                                const core::Attestation& before, std::chrono::steady_clock::time_point start,
                                const MatchTelling& telling);

}  // namespace latebind::cli
