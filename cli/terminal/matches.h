// The lines of a file that a command found for a query, as it prints them.
#pragma once

#include <string>
#include <vector>

#include "cli/data/nearest.h"
#include "core/attestation.h"
#include "embedding/embed_stats.h"

namespace latebind::cli {

struct MatchReport {
  std::string query{};
  std::vector<Match> matches{};  // best first
  embedding::EmbedStats stats{};
};

// A line for each: rank, score, line number, text.
[[nodiscard]] std::string for_people(const MatchReport& report);
// {query, device, precision, fallback, reason, results: [{rank, score, line, text}]}; `attestation` as of now.
[[nodiscard]] std::string for_programs(const MatchReport& report, const core::Attestation& attestation);

}  // namespace latebind::cli
