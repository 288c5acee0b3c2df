// The lines of a file that a command found for a query, as it prints them.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "cli/data/nearest.h"
#include "cli/terminal/messages.h"
#include "core/attestation.h"
#include "core/result.h"
#include "embedding/embed_stats.h"
#include "embedding/embedder.h"

namespace latebind::cli {

struct MatchReport {
  std::string query{};
  std::vector<Match> matches{};  // best first
  embedding::EmbedStats stats{};
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
