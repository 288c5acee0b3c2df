// latebind search: finds the lines of files and folders nearest to a query.
#include <algorithm>
#include <chrono>
#include <deque>
#include <memory>
#include <optional>
#include <utility>

#include "app/index/find_texts.h"
#include "app/model_source.h"
#include "cli/data/nearest.h"
#include "cli/terminal/byte_sink.h"
#include "cli/terminal/embedder_options.h"
#include "cli/terminal/matches.h"
#include "cli/terminal/parser.h"
#include "cli/terminal/progress.h"
#include "cli/terminal/rank_lines.h"
#include "cli/terminal/reranker.h"
#include "cli/terminal/search_index.h"
#include "core/platform/files/folders.h"
#include "core/text/utf8.h"
#include "embedding/embed_stream.h"
#include "embedding/outputs/dense.h"

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
  app::FindOptions finding{};
  std::string index;
  std::string reranker;
  std::optional<std::string> instruction;
  std::string mix;
  std::size_t candidates = 100;
  bool json = false;
  bool quiet = false;
};

// How many lines the first model returns, which is more if a reranker follows.
std::size_t found_count(const SearchArguments& options) {
  return options.reranker.empty() ? options.count : std::max(options.count, options.candidates);
}

// Finds the lines whose vectors are nearest to the query's.
class ByVector {
 public:
  static Result<ByVector> of(const embedding::Embedder& embedder, std::string_view query, std::size_t count,
                             const embedding::EmbedOptions& call, embedding::EmbedStats& stats) {
    const std::size_t asked = call.texts.dimensions;
    std::vector<float> vector(asked > 0 ? asked : embedder.dimension());
    LB_ASSIGN_OR_RETURN(stats, embedder.embed({&query, 1}, vector, call));
    return ByVector(vector, count);
  }
  void offer(const embedding::VectorWindow& window, std::size_t i, std::uint64_t line, const std::string& text,
             std::size_t file, std::string_view id) {
    nearest_.offer(window.vectors.subspan(i * dimension_, dimension_), line, text, file, id);
  }
  [[nodiscard]] std::vector<Match> take() && { return std::move(nearest_).take(); }

 private:
  ByVector(std::span<const float> query, std::size_t count) : dimension_(query.size()), nearest_(query, count) {}

  std::size_t dimension_;
  Nearest nearest_;
};

// Finds the lines whose sparse vectors have the largest products with the query's.
class ByTerms {
 public:
  static Result<ByTerms> of(const embedding::Embedder& embedder, std::string_view query, std::size_t count,
                            const embedding::EmbedOptions& call, embedding::EmbedStats& stats) {
    ByTerms ranking(count);
    LB_ASSIGN_OR_RETURN(stats, embedder.embed_sparse({&query, 1}, {&ranking.query_, 1}, call));
    return ranking;
  }
  void offer(const embedding::VectorWindow& window, std::size_t i, std::uint64_t line, const std::string& text,
             std::size_t file, std::string_view id) {
    best_.offer(static_cast<float>(embedding::dot(query_, window.sparse[i])), line, text, file, id);
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
      embedder, options.query, found_count(options),
      {.texts = {.dimensions = options.dimensions, .role = asked.role, .prompt = asked.choice()}}, query_stats);
  if (!ranking.ok()) return ranking.status().with_context("--query");
  if (!options.quiet) note_dimensions(embedder, options.dimensions);

  Progress progress(reader.total_bytes(), options.quiet);
  struct Place {
    std::size_t file = 0;
    std::uint64_t line = 0;
    std::uint64_t bytes = 0;
    std::string text{};
    std::string id{};
  };
  std::deque<Place> pending;  // the texts in the stream
  LB_ASSIGN_OR_RETURN(const auto stream, embedding::EmbedStream::open(
                                             embedder, stream_options(progress, options.prompt, options.dimensions)));
  TextRecord record;
  using Text = std::optional<std::string_view>;
  const auto next = [&]() -> Result<Text> {
    do {
      LB_ASSIGN_OR_RETURN(const bool more, reader.next(record));
      if (!more) return Text();
      // Empty lines are skipped.
    } while (record.text.find_first_not_of(" \t") == std::string::npos);
    pending.push_back({record.file, record.line, record.bytes, std::move(record.text), record.id});
    return Text(pending.back().text);
  };
  const auto deliver = [&](const embedding::VectorWindow& window) -> Status {
    std::uint64_t bytes = 0;
    const std::size_t count = window.token_counts.size();
    for (std::size_t i = 0; i < count; ++i) {
      Place& place = pending.front();
      ranking->offer(window, i, place.line, place.text, place.file, place.id);
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

// Finds the files to search, before any expensive work.
Result<app::FoundFiles> find_files(const SearchArguments& options) {
  app::FindOptions finding = options.finding;
  if (!options.index.empty()) finding.left_out = platform::path_from_utf8(options.index);
  LB_ASSIGN_OR_RETURN(auto found, app::find_texts(options.source.files, finding));
  // With an index, unchanged files are not read.
  if (options.index.empty()) LB_RETURN_IF_ERROR(app::leave_out_binary(found, finding.bytes_max));
  return found;
}

// The model that finds lines: by its vectors of texts, or by a comparison of all its results.
struct Searched {
  std::unique_ptr<embedding::Embedder> by_vectors{};
  std::unique_ptr<Reranker> by_comparison{};

  [[nodiscard]] const embedding::Embedder& network() const {
    return by_comparison ? by_comparison->network() : *by_vectors;
  }
};

Result<MatchReport> find_matches(const SearchArguments& options, const std::filesystem::path& model,
                                 app::FoundFiles& found, std::optional<TextReader>& reader, const Searched& searched,
                                 const app::Runtime& runtime) {
  const embedding::Embedder& network = searched.network();
  if (!options.index.empty()) {
    return search_index({.index = options.index,
                         .model = model,
                         .query = options.query,
                         .count = found_count(options),
                         .dimensions = options.dimensions,
                         .prompt = &options.prompt,
                         .query_prompt = &options.query_prompt,
                         .source = &options.source,
                         .bytes_max = options.finding.bytes_max,
                         .quiet = options.quiet},
                        found, network, runtime);
  }
  if (!reader) return MatchReport{.query = options.query};
  if (searched.by_comparison) {
    LB_ASSIGN_OR_RETURN(const auto scores, searched.by_comparison->scores(options.query, options.query_prompt.choice(),
                                                                          options.prompt.choice()));
    return rank_lines({.query = options.query, .count = found_count(options), .quiet = options.quiet}, *reader, scores);
  }
  if (network.output().kind().form == embedding::ResultForm::kSparseRow)
    return find<ByTerms>(options, *reader, network);
  return find<ByVector>(options, *reader, network);
}

// Orders the matches by the scores of a reranker.
Status rerank(const SearchArguments& options, const Reranker& reranker, MatchReport& report) {
  LB_ASSIGN_OR_RETURN(const auto score, reranker.scores(options.query));
  std::vector<std::string_view> texts;
  for (const Match& match : report.matches)
    texts.emplace_back(match.text);
  std::vector<float> scores(texts.size());
  if (!texts.empty()) LB_RETURN_IF_ERROR(score(texts, scores).status());
  for (std::size_t i = 0; i < scores.size(); ++i)
    report.matches[i].first_score = std::exchange(report.matches[i].score, scores[i]);
  // Equal scores keep the first model's order.
  std::ranges::stable_sort(report.matches, std::greater(), &Match::score);
  report.matches.resize(std::min(report.matches.size(), options.count));
  report.reranked = {.model = reranker.network().name(), .attestation = reranker.network().attestation()};
  return {};
}

// Returns what is wrong with the options for a model with results of this form, or "".
std::string_view misused(const SearchArguments& options, embedding::ResultForm form) {
  if (form == embedding::ResultForm::kRaggedRows && options.dimensions > 0)
    return "--dimensions: token vectors cannot be cut";
  if (form != embedding::ResultForm::kRow && !options.index.empty())
    return "--index keeps one vector per line, which this model does not produce; leave it out, or use an embedding "
           "model";
  return {};
}

// Returns the second model, which ranks the matches; null without --rerank.
core::Result<std::unique_ptr<Reranker>> open_reranker(const SearchArguments& options, const app::Runtime& runtime) {
  if (options.reranker.empty()) return std::unique_ptr<Reranker>();
  EmbedderOptions second = options.embedder;
  second.model = options.reranker;
  // Settings for the first model's files and lengths do not apply to the reranker.
  app::Runtime others = runtime;
  others.onnx_file.clear();
  others.max_tokens = 0;
  LB_RETURN_IF_ERROR(second.find_model(others.onnx_file, embedding::kScoreOutput.name));
  LB_ASSIGN_OR_RETURN(auto ranking, open_comparing(second, others, embedding::kScoreOutput.name));
  return Reranker::of(std::move(ranking), options.reranker, {.instruction = options.instruction});
}

Exit search(const SearchArguments& options) {
  auto runtime = make_runtime(options.embedder.flags, core::PerformanceHint::kThroughput);
  if (!runtime.ok()) return misuse("search", runtime.status().message());
  if (core::find_invalid_utf8(options.query)) return misuse("search", "--query is not UTF-8");
  if (options.instruction && options.reranker.empty()) return misuse("search", "--instruct is for --rerank");
  if (!options.index.empty() && std::ranges::count(options.source.files, "-") > 0)
    return misuse("search", "--index: stdin cannot be indexed, because it cannot be read again; name a file");
  auto found = find_files(options);
  if (!found.ok()) return fail(found.status());
  if (found->files.empty() && !options.quiet) note("there is no text file to search");
  std::optional<TextReader> reader;
  if (options.index.empty() && !found->files.empty()) {
    TextSource source = options.source;
    source.files.clear();
    for (const app::FoundFile& file : found->files) {
      source.files.push_back(platform::path_to_utf8(file.path));
      source.may_be_lines.push_back(!file.was_named && !source.format);
    }
    auto opened = open_texts(source);
    if (!opened.ok()) return fail(opened.status());
    reader = *std::move(opened);
  }

  // Resolves a model given by name to its folder.
  EmbedderOptions opening = options.embedder;
  if (const auto model = opening.find_model(runtime->onnx_file); !model.ok()) return fail(model);
  std::optional<embedding::MixedWeights> mix;
  if (!options.mix.empty()) {
    const auto weights = embedding::MixedWeights::parse(options.mix);
    if (!weights.ok()) return misuse("search", "--mix: " + std::string(weights.status().message()));
    mix = *weights;
    if (!options.index.empty()) return misuse("search", "--index keeps one vector per line, and --mix needs more");
    if (options.dimensions > 0) return misuse("search", "--dimensions: with --mix, vectors cannot be cut");
  }
  auto opened = mix ? open_comparing(opening, *runtime) : open_network(opening, *runtime);
  if (!opened.ok()) return fail(opened.status());
  const embedding::ResultForm form = (*opened)->output().kind().form;
  if ((*opened)->output().kind().input != &embedding::kTextInput) {
    return fail(
        embedding::no_such_output(options.embedder.model, embedding::kDenseOutput.name, (*opened)->model_outputs()));
  }
  if (const auto why = misused(options, form); !why.empty()) return misuse("search", why);
  auto reranker = open_reranker(options, *runtime);
  if (!reranker.ok()) return fail(reranker.status().with_context("--rerank"));

  Searched searched;
  if (mix || form == embedding::ResultForm::kRaggedRows) {
    auto made = Reranker::of(*std::move(opened), options.embedder.model, {.mix = mix});
    if (!made.ok()) return fail(made.status());
    searched.by_comparison = *std::move(made);
  } else {
    searched.by_vectors = *std::move(opened);
  }
  const embedding::Embedder& network = searched.network();
  const auto attested = network.attestation();
  const auto start = std::chrono::steady_clock::now();
  auto report = find_matches(options, platform::path_from_utf8(opening.model), *found, reader, searched, *runtime);
  if (reader && !options.quiet) note_files_by_lines(reader->files_by_lines(), options.source);
  if (report.ok()) {
    const bool is_one_named = found->files.size() == 1 && found->files.front().was_named;
    report->shows_files = options.source.files.size() > 1 || !is_one_named;
    for (const app::FoundFile& file : found->files)
      report->files.push_back(file.name);
    if (!is_one_named) report->left_out = found->left_out;
    if (*reranker) {
      if (const auto ranked = rerank(options, **reranker, *report); !ranked.ok())
        report = ranked.with_context("--rerank");
    }
  }
  return print_matches(report, network, *attested, start, {.json = options.json, .quiet = options.quiet});
}

}  // namespace

void add_search(Command& program, Action& chosen) {
  auto options = std::make_shared<SearchArguments>();
  Command& app = *program.add_subcommand("search", "Finds the lines of files and folders nearest to a query.");
  refuse_empty(add_text(app, "--query", options->query, "TEXT", "What to look for."), "--query",
               "give the text to look for")
      ->required();
  add_integer(app, "-k", options->count, 1, 1000, "Number of lines to show, 1 to 1000 (default 5).");
  options->embedder.add_to(app);
  options->prompt.add_to(app, "every line of the files");
  options->query_prompt.add_to(app, "the query", "query");
  add_dimensions(app, options->dimensions);
  add_text(app, "--index", options->index, "FILE",
           "Keeps the vectors in this file, so that next time only changed files are embedded. It is created if it is "
           "missing, and rebuilt for another model or other options (docs/index-format.md; default: none).");
  add_text(app, "--rerank", options->reranker, "DIR|ORG/NAME",
           "A cross-encoder, multi-vector encoder or model with a mixed score that reranks the best lines, on the same "
           "devices (default: none).");
  add_instruct(app, options->instruction);
  add_mix(app, options->mix);
  add_integer(app, "--candidates", options->candidates, 1, 1000, "Number of lines to rerank, 1 to 1000 (default 100).");
  add_texts(
      app, "--type", options->finding.types, "ENDING",
      "Searches only files with this extension in folders, such as md. May be given several times (default: all).");
  app.add_flag("--hidden", options->finding.hidden,
               "Also searches hidden files and folders (whose names begin with a dot).");
  app.add_option(
         "--max-file-size",
         [options](const std::string& given) -> Status {
           LB_ASSIGN_OR_RETURN(const std::int64_t value, core::parse_integer("--max-file-size", given, 1, 4096));
           options->finding.bytes_max = static_cast<std::uint64_t>(value) << 20U;
           return {};
         },
         "Largest file to read in a folder or for an index, in MiB, 1 to 4096 (default 64).")
      ->type_name("MIB");
  add_text_source(app, options->source, TextIds::kShown);
  app.add_flag(
      "--json", options->json,
      "Prints {query, device, precision, fallback, reason, results: [{rank, score, file, line, text}]}, with "
      "left_out, index and reranker if they apply; results have an id if the file has ids, and with --rerank a "
      "vector_score.");
  app.add_flag("-q,--quiet", options->quiet, "Hides progress and summary; errors and fallbacks are still reported.");
  app.add_option("FILE", options->source.files,
                 "Files and folders to search: lines, JSON lines (.jsonl) and tables (.csv, .tsv), also packed (.gz); "
                 "- is stdin.")
      ->required();
  app.footer(
      "Prints rank, score, place and text. The score is the cosine of the two vectors, 1 at best; for a\n"
      "sparse encoder it is their dot product, for a multi-vector encoder the sum of the best products\n"
      "of the query's vectors (MaxSim), with --mix the weighted mean of all three, and with --rerank the\n"
      "second model's score. Empty lines are skipped; of a longer text, the first 64 KiB are shown. Hidden and binary "
      "files, files that are not\n"
      "UTF-8, links and large files in folders are skipped and counted.\n"
      "\n"
      "Examples:\n"
      "  latebind search all-MiniLM-L6-v2 --query 'how do I open a file' -k 3 notes.txt\n"
      "  latebind search sentence-transformers/all-MiniLM-L6-v2 --index notes/.index \\\n"
      "      --rerank cross-encoder/ms-marco-MiniLM-L6-v2 --query 'how do I open a file' --type md notes");
  app.callback([options, &chosen] { chosen = [options] { return search(*options); }; });
}

}  // namespace latebind::cli
