#include "cli/terminal/rank_lines.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "cli/terminal/progress.h"

namespace latebind::cli {

using core::Result;
using core::Status;

namespace {

// Documents scored by one call. Fewer on a terminal, so that the progress bar moves.
constexpr std::size_t kWindowDocuments = 16384;
constexpr std::size_t kShownWindowDocuments = 512;
// The limit for their texts, which are in memory.
constexpr std::size_t kWindowBytes = std::size_t{64} << 20;

struct Document {
  std::size_t file = 0;
  std::uint64_t line = 0;
  std::string text{};
  std::string id{};
};

// Scores the documents and clears them.
Status score_all(const ScoreDocuments& score, std::vector<Document>& documents, BestMatches& best,
                 embedding::EmbedStats& stats) {
  std::vector<std::string_view> texts;
  texts.reserve(documents.size());
  for (const Document& document : documents)
    texts.emplace_back(document.text);
  std::vector<float> scores(documents.size());
  auto done = score(texts, scores);
  if (!done.ok()) {
    return done.status().with_context(fmt::format("lines {} to {}", documents.front().line, documents.back().line));
  }
  stats += *done;
  for (std::size_t i = 0; i < documents.size(); ++i)
    best.offer(scores[i], documents[i].line, documents[i].text, documents[i].file, documents[i].id);
  documents.clear();
  return {};
}

}  // namespace

Result<MatchReport> rank_lines(const RankOptions& options, TextReader& reader, const ScoreDocuments& score) {
  Progress progress(reader.total_bytes(), options.quiet);
  const std::size_t window = progress.is_shown() ? kShownWindowDocuments : kWindowDocuments;
  BestMatches best(options.count);
  MatchReport report{.query = options.query};
  std::vector<Document> documents;
  std::size_t bytes = 0;         // of the documents' texts
  std::uint64_t read_bytes = 0;  // of the file
  const auto score_window = [&]() -> Status {
    const std::size_t count = documents.size();
    if (count == 0) return {};
    LB_RETURN_IF_ERROR(score_all(score, documents, best, report.stats));
    progress.advance(count, read_bytes);
    bytes = 0;
    read_bytes = 0;
    return {};
  };
  TextRecord record;
  while (true) {
    LB_ASSIGN_OR_RETURN(const bool more, reader.next(record));
    if (!more) break;
    read_bytes += record.bytes;
    // Empty lines are skipped.
    if (record.text.find_first_not_of(" \t") == std::string::npos) continue;
    bytes += record.text.size();
    documents.push_back({record.file, record.line, std::move(record.text), record.id});
    if (documents.size() == window || bytes >= kWindowBytes) LB_RETURN_IF_ERROR(score_window());
  }
  LB_RETURN_IF_ERROR(score_window());
  report.matches = std::move(best).take();
  return report;
}

Result<ScoreDocuments> multi_vector_scores(const embedding::MultiVectorEncoder& encoder, const std::string& query,
                                           const embedding::PromptChoice& query_prompt,
                                           const embedding::PromptChoice& prompt) {
  auto vectors = std::make_shared<embedding::TokenVectors>();
  const std::string_view texts[] = {query};
  const auto query_stats =
      encoder.encode(texts, *vectors, {.texts = {.role = embedding::TextRole::kQuery, .prompt = query_prompt}});
  if (!query_stats.ok()) return query_stats.status().with_context("--query");
  return ScoreDocuments([&encoder, vectors, prompt, of_query = query_stats->fallback_texts](
                            std::span<const std::string_view> documents, std::span<float> scores) mutable {
    auto stats = encoder.score(vectors->numbers, documents, scores,
                               {.texts = {.role = embedding::TextRole::kDocument, .prompt = prompt}});
    // The query's texts are counted once.
    if (stats.ok()) stats->fallback_texts += std::exchange(of_query, 0);
    return stats;
  });
}

Result<ScoreDocuments> compared_scores(const embedding::Embedder& network, const embedding::Comparison& comparison,
                                       const std::string& query, const embedding::PromptChoice& query_prompt,
                                       const embedding::PromptChoice& prompt) {
  const std::string_view texts[] = {query};
  LB_ASSIGN_OR_RETURN(const embedding::Encoder* const of_queries, network.route_for(embedding::TextRole::kQuery));
  auto encoded = of_queries->encode(std::span(texts), comparison.outputs(),
                                    {.texts = {.role = embedding::TextRole::kQuery, .prompt = query_prompt}});
  if (!encoded.ok()) return encoded.status().with_context("--query");
  auto asked = std::make_shared<const embedding::Results>(*std::move(encoded));
  return ScoreDocuments([&network, comparison, asked, prompt, of_query = asked->stats.fallback_texts](
                            std::span<const std::string_view> documents,
                            std::span<float> scores) mutable -> Result<embedding::EmbedStats> {
    embedding::EmbedStats stats;
    // The vectors of a document's tokens are many numbers, so that few documents are compared at once.
    constexpr std::size_t kDocuments = 256;
    for (std::size_t first = 0; first < documents.size(); first += kDocuments) {
      const auto some = documents.subspan(first, std::min(kDocuments, documents.size() - first));
      LB_ASSIGN_OR_RETURN(
          const embedding::Results found,
          network.documents().encode(some, comparison.outputs(),
                                     {.texts = {.role = embedding::TextRole::kDocument, .prompt = prompt}}));
      std::ranges::copy(comparison.scores(asked->outputs, found.outputs),
                        scores.begin() + static_cast<std::ptrdiff_t>(first));
      stats += found.stats;
    }
    // The query's texts are counted once.
    stats.fallback_texts += std::exchange(of_query, 0);
    return stats;
  });
}

}  // namespace latebind::cli
