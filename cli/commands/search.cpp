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
  bool json = false;
  bool quiet = false;
};

Result<MatchReport> find(const SearchArguments& options, TextReader& reader, const embedding::Embedder& embedder) {
  std::vector<float> query(embedder.dimension());
  const std::string_view texts[] = {options.query};
  const auto& asked = options.query_prompt;
  auto query_stats = embedder.embed(texts, query, {.texts = {.role = asked.role, .prompt = asked.choice()}});
  if (!query_stats.ok()) return query_stats.status().with_context("--query");

  Nearest nearest(query, options.count);
  Progress progress(reader.total_bytes(), options.quiet);
  struct Place {
    std::uint64_t line;
    std::uint64_t bytes;
    std::string text;
  };
  std::deque<Place> pending;  // of the texts that are in the stream
  const std::size_t dimension = embedder.dimension();
  LB_ASSIGN_OR_RETURN(const auto stream,
                      embedding::EmbedStream::open(embedder, stream_options(progress, options.prompt)));
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
      nearest.offer(window.vectors.subspan(i * dimension, dimension), place.line, place.text);
      bytes += place.bytes;
      pending.pop_front();
    }
    progress.advance(count, bytes);
    return {};
  };
  LB_RETURN_IF_ERROR(embedding::embed_all(*stream, next, deliver));
  MatchReport found{.query = options.query, .matches = std::move(nearest).take(), .stats = stream->stats()};
  found.stats.fallback_texts += query_stats->fallback_texts;
  return found;
}

Exit search(const SearchArguments& options) {
  const auto runtime = make_runtime(options.embedder.flags, core::PerformanceHint::kThroughput);
  if (!runtime.ok()) return misuse("search", runtime.status().message());
  if (core::find_invalid_utf8(options.query)) return misuse("search", "--query is not UTF-8");
  auto reader = TextReader::open(options.source);
  if (!reader.ok()) return fail(reader.status());
  const auto embedder = open_embedder(options.embedder, *runtime);
  if (!embedder.ok()) return fail(embedder.status());

  const auto attested = (*embedder)->attestation();
  const auto start = std::chrono::steady_clock::now();
  return tell_matches(find(options, *reader, **embedder), **embedder, *attested, start,
                      {.json = options.json, .quiet = options.quiet});
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
  add_text_source(app, options->source);
  app.add_flag("--json", options->json,
               "Prints {query, device, precision, fallback, reason, results: [{rank, score, line, "
               "text}]}.");
  app.add_flag("-q,--quiet", options->quiet, "No progress and no summary; errors and a fallback are still told.");
  app.add_option("FILE", options->source.files, "File whose lines are searched; - is stdin.")->required()->expected(1);
  app.footer(
      "Prints rank, score (cosine of the two vectors, 1 at best), line number and text. Empty\n"
      "lines are left out; of a longer text the first 64 KiB are shown.\n\n"
      "Example:\n"
      "  latebind search --model all-MiniLM-L6-v2 --query 'how do I open a file' -k 3 notes.txt");
  app.callback([options, &chosen] { chosen = [options] { return search(*options); }; });
}

}  // namespace latebind::cli
