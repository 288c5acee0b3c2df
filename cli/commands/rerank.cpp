// latebind rerank: the lines of a file by their scores for a query.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <chrono>
#include <memory>
#include <utility>
#include <vector>

#include "cli/data/nearest.h"
#include "cli/terminal/byte_sink.h"
#include "cli/terminal/embedder_options.h"
#include "cli/terminal/matches.h"
#include "cli/terminal/parser.h"
#include "cli/terminal/progress.h"
#include "core/text/quote.h"
#include "core/text/utf8.h"
#include "embedding/cross_encoder.h"

namespace latebind::cli {
namespace {

using core::Result;
using core::Status;

// Documents that are scored by one call, on a terminal fewer: the bar moves then.
constexpr std::size_t kWindowDocuments = 16384;
constexpr std::size_t kShownWindowDocuments = 512;
// Of their texts together, which are in memory.
constexpr std::size_t kWindowBytes = std::size_t{64} << 20;

struct RerankArguments {
  EmbedderOptions model{};
  TextSource source{};
  std::string query;
  std::size_t count = 100;
  bool raw_scores = false;
  bool json = false;
  bool quiet = false;
};

struct Document {
  std::uint64_t line = 0;
  std::string text{};
};

// Scores the documents and clears them.
Status score(const RerankArguments& options, const embedding::CrossEncoder& encoder, std::vector<Document>& documents,
             BestMatches& best, embedding::EmbedStats& stats) {
  std::vector<embedding::TextPair> pairs;
  pairs.reserve(documents.size());
  for (const Document& document : documents)
    pairs.push_back({options.query, document.text});
  std::vector<float> scores(pairs.size());
  auto done = encoder.score(pairs, scores, {}, options.raw_scores);
  if (!done.ok()) {
    return done.status().with_context(fmt::format("lines {} to {}", documents.front().line, documents.back().line));
  }
  stats += *done;
  for (std::size_t i = 0; i < documents.size(); ++i)
    best.offer(scores[i], documents[i].line, documents[i].text);
  documents.clear();
  return {};
}

Result<MatchReport> rank(const RerankArguments& options, TextReader& reader, const embedding::CrossEncoder& encoder) {
  Progress progress(reader.total_bytes(), options.quiet);
  const std::size_t window = progress.is_shown() ? kShownWindowDocuments : kWindowDocuments;
  BestMatches best(options.count);
  MatchReport report{.query = options.query};
  std::vector<Document> documents;
  std::size_t bytes = 0;         // of their texts
  std::uint64_t read_bytes = 0;  // of the file
  const auto score_all = [&]() -> Status {
    const std::size_t count = documents.size();
    if (count == 0) return {};
    LB_RETURN_IF_ERROR(score(options, encoder, documents, best, report.stats));
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
    // Nobody ranks an empty line.
    if (record.text.find_first_not_of(" \t") == std::string::npos) continue;
    bytes += record.text.size();
    documents.push_back({record.line, std::move(record.text)});
    if (documents.size() == window || bytes >= kWindowBytes) LB_RETURN_IF_ERROR(score_all());
  }
  LB_RETURN_IF_ERROR(score_all());
  report.matches = std::move(best).take();
  return report;
}

Exit rerank(const RerankArguments& options) {
  const auto runtime = make_runtime(options.model.flags, core::PerformanceHint::kThroughput);
  if (!runtime.ok()) return misuse("rerank", runtime.status().message());
  if (core::find_invalid_utf8(options.query)) return misuse("rerank", "--query is not UTF-8");
  auto reader = TextReader::open(options.source);
  if (!reader.ok()) return fail(reader.status());
  auto opened = open_network(options.model, *runtime, embedding::EncoderKind::kCrossEncoder);
  if (!opened.ok()) return fail(opened.status());
  const auto encoder = embedding::CrossEncoder::of(*std::move(opened));
  const std::size_t labels = encoder->labels().size();
  if (labels != 1) {
    return fail(Status(core::StatusCode::kUnsupported,
                       fmt::format("the model gives {} numbers for a pair ({}), by which nothing can be ranked", labels,
                                   core::printable(fmt::format("{}", fmt::join(encoder->labels(), ", "))))));
  }

  const embedding::Embedder& network = encoder->network();
  const auto attested = network.attestation();
  const auto start = std::chrono::steady_clock::now();
  return tell_matches(rank(options, *reader, *encoder), network, *attested, start,
                      {.json = options.json, .quiet = options.quiet});
}

}  // namespace

void add_rerank(CLI::App& program, Action& chosen) {
  auto options = std::make_shared<RerankArguments>();
  CLI::App& app = *program.add_subcommand("rerank", "Ranks the lines of a file for a query, by a cross-encoder.");
  add_text(app, "--query", options->query, "TEXT", "What the lines are ranked for.")->required();
  add_integer(app, "-k", options->count, 1, 100000, "Number of lines to show, 1 to 100000 (default 100).");
  app.add_flag("--raw-scores", options->raw_scores,
               "The network's numbers (logits) instead of what the model's function, often a sigmoid, makes of them.");
  options->model.add_to(app, "A cross-encoder");
  add_text_source(app, options->source);
  app.add_flag("--json", options->json,
               "Prints {query, device, precision, fallback, reason, results: [{rank, score, line, "
               "text}]}.");
  app.add_flag("-q,--quiet", options->quiet, "No progress and no summary; errors and a fallback are still told.");
  app.add_option("FILE", options->source.files, "File whose lines are ranked; - is stdin.")->required()->expected(1);
  app.footer(
      "Prints rank, score, line number and text. Scores are those that sentence-transformers'\n"
      "CrossEncoder predicts. Empty lines are left out; of a longer text the first 64 KiB are\n"
      "shown.\n\n"
      "Example:\n"
      "  latebind rerank --model cross-encoder/ms-marco-MiniLM-L6-v2 \\\n"
      "      --query 'how do I open a file' -k 3 notes.txt");
  app.callback([options, &chosen] { chosen = [options] { return rerank(*options); }; });
}

}  // namespace latebind::cli
