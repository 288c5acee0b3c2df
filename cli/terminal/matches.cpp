#include "cli/terminal/matches.h"

#include <fmt/format.h>

#include <utility>

#include "app/json_text.h"
#include "cli/terminal/byte_sink.h"
#include "cli/terminal/embedder_options.h"
#include "core/text/one_line.h"

namespace latebind::cli {

namespace {

// The place of a match, for people: "docs/a.md:12", or "line 12" if there is one file, and its id.
std::string place_of(const MatchReport& report, const Match& match) {
  // A cell of a table may be empty.
  const std::string_view id = match.id == "\"\"" ? std::string_view() : match.id;
  if (!report.shows_files) return fmt::format("line {:<6}{}", match.line, id);
  return fmt::format("{}:{} {}", core::one_line(report.files[match.file]), match.line, id);
}

// One line per match: rank, score, place, text.
std::string for_people(const MatchReport& report) {
  std::string text;
  std::size_t rank = 0;
  for (const Match& match : report.matches) {
    text +=
        fmt::format("{:>3}  {:.4f}  {} {}\n", ++rank, match.score, place_of(report, match), core::one_line(match.text));
  }
  return text;
}

// {query, device, precision, fallback, reason, [index,] [left_out,] [reranker,] results: [{rank, score,
// [vector_score,] file, line, [id,] text}]}; `attestation` as of now.
std::string for_programs(const MatchReport& report, const core::Attestation& attestation) {
  const std::string in_between = fallback_texts(report.stats, attestation);
  const auto& active = attestation.active;
  app::Json json;
  json["query"] = report.query;
  json["device"] = active.id();
  json["precision"] = core::word_of(active.precision);
  json["fallback"] = attestation.fallback || !in_between.empty();
  json["reason"] = in_between.empty() ? attestation.reason : in_between;
  if (!report.index.is_null()) json["index"] = report.index;
  if (report.left_out) json["left_out"] = report.left_out->json();
  if (report.reranked) {
    const core::Attestation& reranker = *report.reranked->attestation;
    app::Json& entry = json["reranker"];
    entry["model"] = report.reranked->model;
    entry["device"] = reranker.active.id();
    entry["precision"] = core::word_of(reranker.active.precision);
    entry["fallback"] = reranker.fallback;
    entry["reason"] = reranker.reason;
  }
  json["results"] = app::Json::array();
  for (const Match& match : report.matches) {
    app::Json result;
    result["rank"] = json["results"].size() + 1;
    result["score"] = app::rounded(static_cast<double>(match.score), 6);
    if (match.first_score) result["vector_score"] = app::rounded(static_cast<double>(*match.first_score), 6);
    if (!report.files.empty()) result["file"] = report.files[match.file];
    result["line"] = match.line;
    if (!match.id.empty()) result["id"] = core::json_or_null(match.id);
    result["text"] = match.text;
    json["results"].push_back(std::move(result));
  }
  return app::to_text(json);
}

}  // namespace

Exit print_matches(const core::Result<MatchReport>& report, const embedding::Embedder& network,
                   const core::Attestation& before, std::chrono::steady_clock::time_point start,
                   const MatchOutput& output) {
  const auto now = network.attestation();
  note_takeover(before, *now);
  if (!report.ok()) return fail(report.status());
  note_fallback_texts(report->stats, *now);
  const std::chrono::duration<double> time = std::chrono::steady_clock::now() - start;
  if (!output.quiet) {
    if (report->left_out && report->left_out->count() > 0) note("left out: " + report->left_out->text());
    // With an up-to-date index, only the query was computed.
    if (report->index.is_null() || report->stats.texts > 0) note(summary(report->stats, time.count(), network));
  }
  const auto printed = print(output.json ? for_programs(*report, *now) : for_people(*report));
  return printed.ok() ? Exit::kGood : fail(printed);
}

}  // namespace latebind::cli
