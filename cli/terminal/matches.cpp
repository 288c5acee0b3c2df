#include "cli/terminal/matches.h"

#include <fmt/format.h>

#include <utility>

#include "app/json_text.h"
#include "cli/terminal/byte_sink.h"
#include "cli/terminal/embedder_options.h"
#include "core/text/one_line.h"

namespace latebind::cli {

namespace {

// A line for each: rank, score, line number, text.
std::string for_people(const MatchReport& report) {
  std::string text;
  std::size_t rank = 0;
  for (const Match& match : report.matches) {
    text += fmt::format("{:>3}  {:.4f}  line {:<6} {}\n", ++rank, match.score, match.line, core::one_line(match.text));
  }
  return text;
}

// {query, device, precision, fallback, reason, results: [{rank, score, line, text}]}; `attestation` as of now.
std::string for_programs(const MatchReport& report, const core::Attestation& attestation) {
  const std::string in_between = fallback_texts(report.stats, attestation);
  const auto& active = attestation.active;
  app::Json json;
  json["query"] = report.query;
  json["device"] = active.id();
  json["precision"] = core::word_of(active.precision);
  json["fallback"] = attestation.fallback || !in_between.empty();
  json["reason"] = in_between.empty() ? attestation.reason : in_between;
  json["results"] = app::Json::array();
  for (const Match& match : report.matches) {
    app::Json result;
    result["rank"] = json["results"].size() + 1;
    result["score"] = app::rounded(static_cast<double>(match.score), 6);
    result["line"] = match.line;
    result["text"] = match.text;
    json["results"].push_back(std::move(result));
  }
  return app::to_text(json);
}

}  // namespace

Exit tell_matches(const core::Result<MatchReport>& report, const embedding::Embedder& network,
                  const core::Attestation& before, std::chrono::steady_clock::time_point start,
                  const MatchTelling& telling) {
  const auto now = network.attestation();
  note_takeover(before, *now);
  if (!report.ok()) return fail(report.status());
  note_fallback_texts(report->stats, *now);
  const std::chrono::duration<double> time = std::chrono::steady_clock::now() - start;
  if (!telling.quiet) note(summary(report->stats, time.count(), network));
  const auto printed = print(telling.json ? for_programs(*report, *now) : for_people(*report));
  return printed.ok() ? Exit::kGood : fail(printed);
}

}  // namespace latebind::cli
