// latebind rerank: ranks the lines of a file for a query.
#include <chrono>
#include <memory>
#include <optional>
#include <utility>

#include "cli/terminal/embedder_options.h"
#include "cli/terminal/matches.h"
#include "cli/terminal/parser.h"
#include "cli/terminal/rank_lines.h"
#include "cli/terminal/reranker.h"
#include "core/text/utf8.h"

namespace latebind::cli {
namespace {

using core::Result;

struct RerankArguments {
  EmbedderOptions model{};
  TextSource source{};
  std::string query;
  std::size_t count = 100;
  bool raw_scores = false;
  std::string mix;
  std::optional<std::string> instruction;
  bool json = false;
  bool quiet = false;
};

Result<MatchReport> rank(const RerankArguments& options, TextReader& reader, const Reranker& reranker) {
  LB_ASSIGN_OR_RETURN(const auto scores, reranker.scores(options.query));
  auto report = rank_lines({.query = options.query, .count = options.count, .quiet = options.quiet}, reader, scores);
  if (report.ok()) report->files = options.source.files;
  return report;
}

Exit rerank(const RerankArguments& options) {
  const auto runtime = make_runtime(options.model.flags, core::PerformanceHint::kThroughput);
  if (!runtime.ok()) return misuse("rerank", runtime.status().message());
  if (core::find_invalid_utf8(options.query)) return misuse("rerank", "--query is not UTF-8");
  auto reader = open_texts(options.source);
  if (!reader.ok()) return fail(reader.status());
  EmbedderOptions opening = options.model;
  const auto found = opening.find_model(runtime->onnx_file, embedding::kScoreOutput.name);
  if (!found.ok()) return fail(found);
  auto opened = open_comparing(opening, *runtime, embedding::kScoreOutput.name);
  if (!opened.ok()) return fail(opened.status());
  if (options.raw_scores && (*opened)->gives(embedding::kMultiVectorOutput.name)) {
    return misuse("rerank", "--raw-scores is for cross-encoders: a multi-vector encoder's scores are always raw");
  }
  std::optional<embedding::MixedWeights> mix;
  if (!options.mix.empty()) {
    const auto weights = embedding::MixedWeights::parse(options.mix);
    if (!weights.ok()) return misuse("rerank", "--mix: " + std::string(weights.status().message()));
    mix = *weights;
  }
  const auto reranker =
      Reranker::of(*std::move(opened), options.model.model,
                   {.raw_scores = options.raw_scores, .mix = mix, .instruction = options.instruction});
  if (!reranker.ok()) return fail(reranker.status());
  const auto attested = (*reranker)->network().attestation();
  const auto start = std::chrono::steady_clock::now();
  return print_matches(rank(options, *reader, **reranker), (*reranker)->network(), *attested, start,
                       {.json = options.json, .quiet = options.quiet});
}

}  // namespace

void add_rerank(Command& program, Action& chosen) {
  auto options = std::make_shared<RerankArguments>();
  Command& app = *program.add_subcommand(
      "rerank", "Ranks the lines of a file for a query with a cross-encoder or a multi-vector encoder (ColBERT).");
  refuse_empty(add_text(app, "--query", options->query, "TEXT", "The query."), "--query", "give the text to rank for")
      ->required();
  add_integer(app, "-k", options->count, 1, 100000, "Number of lines to show, 1 to 100000 (default 100).");
  app.add_flag("--raw-scores", options->raw_scores,
               "Prints the network's logits, without the model's activation function (often a sigmoid).");
  add_mix(app, options->mix);
  add_instruct(app, options->instruction);
  options->model.add_to(app, "A cross-encoder, a multi-vector encoder or a model with a mixed score");
  add_text_source(app, options->source, TextIds::kShown);
  app.add_flag("--json", options->json,
               "Prints {query, device, precision, fallback, reason, results: [{rank, score, file, "
               "line, text}]}; results have an id if the file has ids.");
  app.add_flag("-q,--quiet", options->quiet, "Hides progress and summary; errors and fallbacks are still reported.");
  app.add_option("FILE", options->source.files,
                 "File whose lines, objects (.jsonl) or rows (.csv, .tsv) are ranked, also packed (.gz); - is stdin.")
      ->required()
      ->repeats(Repeat::kError);
  app.footer(
      "Prints rank, score, line number and text. Scores are those of sentence-transformers'\n"
      "CrossEncoder.predict, or the similarity (MaxSim) of its MultiVectorEncoder. Models with dense,\n"
      "sparse and multi-vector results (bge-m3) have a mixed score. Empty lines are skipped; of a longer\n"
      "text, the first 64 KiB are shown.\n"
      "\n"
      "Example:\n"
      "  latebind rerank cross-encoder/ms-marco-MiniLM-L6-v2 \\\n"
      "      --query 'how do I open a file' -k 3 notes.txt");
  app.callback([options, &chosen] { chosen = [options] { return rerank(*options); }; });
}

}  // namespace latebind::cli
