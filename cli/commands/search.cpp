// latebind search: the lines of a file that are nearest to a query.
#include <chrono>
#include <deque>
#include <memory>
#include <utility>

#include "cli/data/nearest.h"
#include "cli/terminal/byte_sink.h"
#include "cli/terminal/embedder_options.h"
#include "cli/terminal/matches.h"
#include "cli/terminal/parser.h"
#include "cli/terminal/progress.h"
#include "cli/terminal/rank_lines.h"
#include "core/text/utf8.h"
#include "embedding/embed_stream.h"

namespace latebind::cli {
namespace {

using core::Result;
using core::Status;

struct SearchArguments {
  EmbedderOptions embedder{};
  PromptArguments prompt{.role = embedding::TextRole::kDocument};
  PromptArguments query_prompt{.role = embedding::TextRole::kQuery};
  TextSource source{};
  std::string query;
  std::size_t count = 5;
  std::size_t dimensions = 0;
  bool json = false;
  bool quiet = false;
};

// The lines whose vectors are nearest to the query's.
class ByVector {
 public:
  static Result<ByVector> of(const embedding::Embedder& embedder, std::string_view query, std::size_t count,
                             const embedding::EmbedOptions& call, embedding::EmbedStats& stats) {
    const std::size_t asked = call.texts.dimensions;
    std::vector<float> vector(asked > 0 ? asked : embedder.dimension());
    LB_ASSIGN_OR_RETURN(stats, embedder.embed({&query, 1}, vector, call));
    return ByVector(vector, count);
  }
  void offer(const embedding::VectorWindow& window, std::size_t i, std::uint64_t line, const std::string& text) {
    nearest_.offer(window.vectors.subspan(i * dimension_, dimension_), line, text);
  }
  [[nodiscard]] std::vector<Match> take() && { return std::move(nearest_).take(); }

 private:
  ByVector(std::span<const float> query, std::size_t count) : dimension_(query.size()), nearest_(query, count) {}

  std::size_t dimension_;
  Nearest nearest_;
};

// The lines whose sparse vectors have the largest products with the query's.
class ByTerms {
 public:
  static Result<ByTerms> of(const embedding::Embedder& embedder, std::string_view query, std::size_t count,
                            const embedding::EmbedOptions& call, embedding::EmbedStats& stats) {
    ByTerms ranking(count);
    LB_ASSIGN_OR_RETURN(stats, embedder.embed_sparse({&query, 1}, {&ranking.query_, 1}, call));
    return ranking;
  }
  void offer(const embedding::VectorWindow& window, std::size_t i, std::uint64_t line, const std::string& text) {
    best_.offer(static_cast<float>(embedding::dot(query_, window.sparse[i])), line, text);
  }
  [[nodiscard]] std::vector<Match> take() && { return std::move(best_).take(); }

 private:
  explicit ByTerms(std::size_t count) : best_(count) {}

  embedding::SparseVector query_;
  BestMatches best_;
};

template <class Ranking>
Result<MatchReport> find(const SearchArguments& options, TextReader& reader, const embedding::Embedder& embedder) {
  const auto& asked = options.query_prompt;
  embedding::EmbedStats query_stats;
  auto ranking = Ranking::of(
      embedder, options.query, options.count,
      {.texts = {.dimensions = options.dimensions, .role = asked.role, .prompt = asked.choice()}}, query_stats);
  if (!ranking.ok()) return ranking.status().with_context("--query");
  if (!options.quiet) note_dimensions(embedder, options.dimensions);

  Progress progress(reader.total_bytes(), options.quiet);
  struct Place {
    std::uint64_t line;
    std::uint64_t bytes;
    std::string text;
  };
  std::deque<Place> pending;  // of the texts that are in the stream
  LB_ASSIGN_OR_RETURN(const auto stream, embedding::EmbedStream::open(
                                             embedder, stream_options(progress, options.prompt, options.dimensions)));
  TextRecord record;
  using Text = std::optional<std::string_view>;
  const auto next = [&]() -> Result<Text> {
    do {
      LB_ASSIGN_OR_RETURN(const bool more, reader.next(record));
      if (!more) return Text();
      // Nobody searches for an empty line.
    } while (record.text.find_first_not_of(" \t") == std::string::npos);
    pending.push_back({record.line, record.bytes, std::move(record.text)});
    return Text(pending.back().text);
  };
  const auto deliver = [&](const embedding::VectorWindow& window) -> Status {
    std::uint64_t bytes = 0;
    const std::size_t count = window.token_counts.size();
    for (std::size_t i = 0; i < count; ++i) {
      Place& place = pending.front();
      ranking->offer(window, i, place.line, place.text);
      bytes += place.bytes;
      pending.pop_front();
    }
    progress.advance(count, bytes);
    return {};
  };
  LB_RETURN_IF_ERROR(embedding::embed_all(*stream, next, deliver));
  MatchReport found{.query = options.query, .matches = (*std::move(ranking)).take(), .stats = stream->stats()};
  found.stats.fallback_texts += query_stats.fallback_texts;
  return found;
}

Exit search(const SearchArguments& options) {
  const auto runtime = make_runtime(options.embedder.flags, core::PerformanceHint::kThroughput);
  if (!runtime.ok()) return misuse("search", runtime.status().message());
  if (core::find_invalid_utf8(options.query)) return misuse("search", "--query is not UTF-8");
  auto reader = TextReader::open(options.source);
  if (!reader.ok()) return fail(reader.status());
  auto opened = open_network(options.embedder, *runtime, /*kind=*/std::nullopt);
  if (!opened.ok()) return fail(opened.status());
  const auto attested = (*opened)->attestation();
  const auto start = std::chrono::steady_clock::now();
  const MatchTelling telling{.json = options.json, .quiet = options.quiet};
  switch ((*opened)->kind()) {
    case embedding::EncoderKind::kEmbedder:
      return tell_matches(find<ByVector>(options, *reader, **opened), **opened, *attested, start, telling);
    case embedding::EncoderKind::kSparseEncoder:
      return tell_matches(find<ByTerms>(options, *reader, **opened), **opened, *attested, start, telling);
    case embedding::EncoderKind::kMultiVectorEncoder:
      if (options.dimensions > 0)
        return misuse("search", "--dimensions: the vectors of tokens are compared as they are");
      break;
    case embedding::EncoderKind::kCrossEncoder:
      return fail(embedding::wrong_kind(options.embedder.model, (*opened)->kind()));
  }
  const auto encoder = embedding::MultiVectorEncoder::of(*std::move(opened));
  return tell_matches(rank_lines_late({.query = options.query, .count = options.count, .quiet = options.quiet}, *reader,
                                      *encoder, options.query_prompt.choice(), options.prompt.choice()),
                      encoder->network(), *attested, start, telling);
}

}  // namespace

void add_search(CLI::App& program, Action& chosen) {
  auto options = std::make_shared<SearchArguments>();
  CLI::App& app = *program.add_subcommand("search", "Finds the lines of a file nearest to a query.");
  add_text(app, "--query", options->query, "TEXT", "What to look for.")->required();
  add_integer(app, "-k", options->count, 1, 1000, "Number of lines to show, 1 to 1000 (default 5).");
  options->embedder.add_to(app);
  options->prompt.add_to(app, "every line of the file");
  options->query_prompt.add_to(app, "the query", "query");
  add_dimensions(app, options->dimensions);
  add_text_source(app, options->source);
  app.add_flag("--json", options->json,
               "Prints {query, device, precision, fallback, reason, results: [{rank, score, line, "
               "text}]}.");
  app.add_flag("-q,--quiet", options->quiet, "No progress and no summary; errors and a fallback are still told.");
  app.add_option("FILE", options->source.files, "File whose lines are searched; - is stdin.")->required()->expected(1);
  app.footer(
      "Prints rank, score (cosine of the two vectors, 1 at best; of a sparse encoder their product, of\n"
      "a multi-vector encoder the sum of the query's best products, MaxSim), line number and text.\n"
      "Empty lines are left out; of a longer text the first 64 KiB are shown.\n\n"
      "Example:\n"
      "  latebind search --model all-MiniLM-L6-v2 --query 'how do I open a file' -k 3 notes.txt");
  app.callback([options, &chosen] { chosen = [options] { return search(*options); }; });
}

}  // namespace latebind::cli
