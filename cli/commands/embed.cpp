// latebind embed: converts files of text to vectors.
#include <fmt/format.h>

#include <chrono>
#include <deque>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "app/bulk/partial_output.h"
#include "app/index/model_digest.h"
#include "app/model_source.h"
#include "cli/embed/arguments.h"
#include "cli/embed/by_python.h"
#include "cli/terminal/interruption.h"
#include "cli/terminal/kept_output.h"
#include "cli/terminal/model_argument.h"
#include "cli/terminal/parser.h"
#include "cli/terminal/progress.h"
#include "cli/terminal/python_engine.h"
#include "core/platform/files/folders.h"
#include "core/platform/os_error.h"
#include "embedding/embed_stream.h"
#include "embedding/outputs/dense.h"

namespace latebind::cli {
namespace {

using core::Result;
using core::Status;

// The destination of the vectors. Without `kept`, the run cannot be resumed.
struct Destination {
  std::vector<WrittenOutput> outputs{};
  std::unique_ptr<VectorWriter> writer{};
  KeptOutput* kept = nullptr;
  std::unique_ptr<ByteSink> ids{};  // beside the output; null: with the vectors, or dropped
  bool has_ids = false;
  bool is_file = false;  // the output is a regular file
};

Result<embedding::EmbedStats> embed_texts(const EmbedArguments& options, TextReader& reader,
                                          const embedding::Embedder& embedder, Destination& to,
                                          const core::RunOptions& limits) {
  Progress progress(reader.total_bytes(), options.quiet);
  progress.advance(0, reader.skipped_bytes());
  // The texts in the stream, so that progress counts what is done rather than what is read.
  std::deque<TextRecord> pending;
  TextRecord record;
  using Text = std::optional<std::string_view>;
  const auto next = [&]() -> Result<Text> {
    LB_RETURN_IF_ERROR(core::check_time(limits));
    LB_ASSIGN_OR_RETURN(const bool more, reader.next(record));
    if (!more) return Text();
    TextRecord& place = pending.emplace_back();
    place.file = record.file;
    place.last_line = record.last_line;
    place.bytes = record.bytes;
    place.end = record.end;
    place.id = record.id;
    return Text(record.text);
  };
  std::vector<std::string> ids;
  const auto deliver = [&](const embedding::VectorWindow& window) -> Status {
    const std::size_t texts = window.token_counts.size();
    ids.clear();
    std::uint64_t bytes = 0;
    bool has_ids = false;
    for (std::size_t i = 0; i < texts; ++i) {
      bytes += pending[i].bytes;
      has_ids = has_ids || !pending[i].id.empty();
      ids.push_back(std::move(pending[i].id));
    }
    to.has_ids = to.has_ids || has_ids;
    LB_RETURN_IF_ERROR(to.writer->write(window.outputs, texts, ids));
    if (to.kept != nullptr) LB_RETURN_IF_ERROR(to.kept->advance(texts, pending[texts - 1], has_ids));
    pending.erase(pending.begin(), pending.begin() + static_cast<std::ptrdiff_t>(texts));
    progress.advance(texts, bytes);
    return {};
  };
  auto windows = stream_options(progress, options.prompt, options.dimensions);
  windows.outputs = options.outputs;
  if (to.kept != nullptr) windows.window_texts = kKeptWindowTexts;
  LB_ASSIGN_OR_RETURN(const auto stream, embedding::EmbedStream::open(embedder, windows));
  LB_RETURN_IF_ERROR(embedding::embed_all(*stream, next, deliver, limits));
  if (to.has_ids && to.ids != nullptr) LB_RETURN_IF_ERROR(to.ids->finish());
  LB_RETURN_IF_ERROR(to.writer->finish());
  return stream->stats();
}

// Formats that cannot hold ids.
bool has_ids_beside(VectorFormat format) {
  return format == VectorFormat::kNpy || format == VectorFormat::kF32;
}

// Reports how the run ended and what is kept of the unfinished output.
Exit end_early(KeptOutput* kept, const Status& status, const Interruption* interruption) {
  const bool is_interrupted =
      interruption != nullptr && interruption->is_requested() && status.code() == core::StatusCode::kCancelled;
  std::string what;
  if (kept != nullptr && status.code() == core::StatusCode::kInvalidArgument) {
    kept->discard();  // the input must change before a retry
  } else if (kept != nullptr) {
    // If this fails, the previous save remains.
    if (const Status saved = kept->save(); !saved.ok() && is_interrupted) static_cast<void>(fail(saved));
    what = kept->kept();
  }
  if (is_interrupted) {
    note(what.empty() ? "interrupted: nothing was embedded"
                      : fmt::format("interrupted: {}; run the same command again to continue", what));
    return Exit::kInterrupted;
  }
  const Exit exit = fail(status);
  if (!what.empty()) note(fmt::format("{}; run the same command again to continue", what));
  return exit;
}

// Fails for reasons that the caller can mend on the command line.
Exit fail_or_misuse(const Status& status) {
  return status.code() == core::StatusCode::kInvalidArgument ? misuse("embed", status.message()) : fail(status);
}

// Opens the model for the wanted outputs. Its texts have no partner, so it must not be asked for scores of pairs.
Result<std::unique_ptr<embedding::Embedder>> open_model(const EmbedArguments& options, const std::string& folder,
                                                        const app::Runtime& runtime) {
  LB_ASSIGN_OR_RETURN(const auto read, app::open_folder(platform::path_from_utf8(folder), runtime.onnx_file));
  LB_ASSIGN_OR_RETURN(const auto outputs, read.documents().find_outputs(options.outputs));
  for (const auto& output : outputs) {
    if (output->kind().input == &embedding::kPairInput) {
      return embedding::no_such_output(read.name(), embedding::kDenseOutput.name, read.documents().outputs);
    }
  }
  LB_ASSIGN_OR_RETURN(
      auto network,
      app::open_network(read, runtime, {.outputs = options.outputs, .role = options.prompt.role, .on_batch = {}}));
  note_fallback(*network->attestation());
  return network;
}

// The outputs that are written, and their dimensions.
std::vector<WrittenOutput> written_outputs(const embedding::Embedder& network, std::size_t dimensions) {
  std::vector<WrittenOutput> written;
  for (const embedding::BoundOutput& bound : network.documents().outputs()) {
    const bool is_cut = dimensions > 0 && bound.form() == embedding::ResultForm::kRow;
    written.push_back({.name = std::string(bound.output->kind().name),
                       .form = bound.form(),
                       .dimension = is_cut ? dimensions : bound.dimension()});
  }
  return written;
}

// Opens the file of ids beside the output, for formats that cannot hold ids. Returns an empty function if none is
// needed.
Result<IdSink> open_ids(const EmbedArguments& options, Destination& to) {
  if (!has_ids_beside(options.format) || are_all_lines(options.source)) return IdSink();
  if (to.kept != nullptr) return IdSink([&to](std::string_view line) { return to.kept->write_id(line); });
  if (!to.is_file) return IdSink();
  LB_ASSIGN_OR_RETURN(to.ids,
                      open_sink(platform::path_to_utf8(app::ids_file_of(platform::path_from_utf8(options.output)))));
  return IdSink([&to](std::string_view line) { return to.ids->write(line); });
}

// Opens the files of the results. Only a single file can be continued.
Result<std::vector<std::unique_ptr<ByteSink>>> open_sinks(const EmbedArguments& options, KeptOutput* kept) {
  std::vector<std::unique_ptr<ByteSink>> sinks;
  const std::vector<std::string> files = result_files(options);
  if (files.size() > 1 && (options.output.empty() || options.output == "-")) {
    return Status(core::StatusCode::kInvalidArgument,
                  "these outputs are several npy files: name them with -o FILE.npy, or take --output-format jsonl");
  }
  for (const std::string& file : files) {
    if (kept != nullptr) {
      sinks.push_back(kept->sink());
    } else {
      LB_ASSIGN_OR_RETURN(sinks.emplace_back(), open_sink(file));
    }
  }
  return sinks;
}

// Embeds the texts, and reports how it went.
Exit run(const EmbedArguments& options, const app::Runtime& runtime, const std::string& folder,
         const embedding::Embedder& embedder, TextReader& reader, Destination& to,
         std::vector<std::unique_ptr<ByteSink>> sinks) {
  const auto attested = embedder.attestation();
  std::optional<Interruption> interruption;
  core::RunOptions limits;
  if (to.kept != nullptr) {
    // While inputs are read for their digests, Ctrl-C ends the process as usual, because nothing can be lost.
    auto settings = kept_settings(options);
    if (!settings.ok()) return misuse("embed", settings.status().message());
    const auto digest = [&] {
      core::FileDigests* const digests = runtime.load.cache ? &runtime.load.cache->store()->digests() : nullptr;
      return app::model_digest(folder, runtime.onnx_file, digests);
    };
    const std::size_t dimension = options.dimensions > 0 ? options.dimensions : embedder.dimension();
    const auto begun = to.kept->begin({*std::move(settings), digest, attested->active, dimension}, reader);
    if (!begun.ok()) return fail_or_misuse(begun);
    if (const std::string there = to.kept->kept(); !there.empty() && !options.quiet) note("continues: " + there);
    limits.cancellation = interruption.emplace().cancellation();
  }
  auto ids = open_ids(options, to);
  if (!ids.ok()) return fail(ids.status());
  auto writer = VectorWriter::make(options.format, std::move(sinks), to.outputs,
                                   to.kept != nullptr ? to.kept->texts() : 0, *std::move(ids));
  if (!writer.ok()) return end_early(to.kept, writer.status(), nullptr);
  to.writer = *std::move(writer);

  const auto start = std::chrono::steady_clock::now();
  const auto stats = embed_texts(options, reader, embedder, to, limits);
  note_takeover(*attested, *embedder.attestation());
  if (!stats.ok()) return end_early(to.kept, stats.status(), interruption ? &*interruption : nullptr);
  note_fallback_texts(*stats, *embedder.attestation());
  if (!options.quiet) {
    note_dimensions(embedder, options.dimensions);
    const std::chrono::duration<double> time = std::chrono::steady_clock::now() - start;
    note(summary(*stats, time.count(), embedder));
  }
  return Exit::kGood;
}

Exit embed(EmbedArguments& options) {
  if (const auto chosen = choose_formats(options); !chosen.ok()) return misuse("embed", chosen.message());
  if (is_for_python(options)) {
    if (const auto apart = check_places(options, options.embedder.model); !apart.ok()) {
      return misuse("embed", apart.message());
    }
    const auto words = python_arguments(options);
    return words.ok() ? run_python_engine(*words) : misuse("embed", words.status().message());
  }
  const auto runtime = make_runtime(options.embedder.flags, core::PerformanceHint::kThroughput);
  if (!runtime.ok()) return misuse("embed", runtime.status().message());
  if (const auto apart = check_places(options, options.embedder.model); !apart.ok()) {
    return misuse("embed", apart.message());
  }
  // Checks that are cheap come before the model is loaded.
  auto reader = open_texts(options.source, TextOption::kText);
  if (!reader.ok()) return fail(reader.status());
  std::unique_ptr<KeptOutput> kept;
  if (result_files(options).size() == 1) {
    auto opened = KeptOutput::open(options.output, options.source, options.restart);
    if (!opened.ok()) return fail_or_misuse(opened.status());
    kept = *std::move(opened);
  }
  auto sinks = open_sinks(options, kept.get());
  if (!sinks.ok()) return fail_or_misuse(sinks.status());
  // Resolves a model given by name to its folder.
  EmbedderOptions opening = options.embedder;
  const std::string_view wanted = options.outputs.empty() ? std::string_view() : options.outputs.front();
  if (const auto found = opening.find_model(runtime->onnx_file, wanted); !found.ok()) return fail(found);
  if (const auto apart = check_places(options, opening.model); !apart.ok()) return misuse("embed", apart.message());
  const auto embedder = open_model(options, opening.model, *runtime);
  if (!embedder.ok()) {
    return fail(as_model_argument(embedder.status(), options.embedder.model, options.embedder.model_is_argument));
  }
  Destination to{.outputs = written_outputs(**embedder, options.dimensions), .kept = kept.get()};
  to.is_file = !options.output.empty() && options.output != "-" && sinks->front()->can_rewrite();
  if (const auto fits = check_format(options.format, to.outputs); !fits.ok()) return misuse("embed", fits.message());
  if (files_of(options.format, options.output, to.outputs).size() != sinks->size()) {
    return misuse("embed", fmt::format("the output '{}' is two npy files, which are asked for by name: --outputs {}",
                                       to.outputs.front().name, to.outputs.front().name));
  }
  return run(options, *runtime, opening.model, **embedder, *reader, to, *std::move(sinks));
}

}  // namespace

void add_embed(Command& program, Action& chosen) {
  auto options = std::make_shared<EmbedArguments>();
  Command& app = *program.add_subcommand("embed", "Embeds texts: prints one vector per text, in input order.");
  options->embedder.add_to(app);
  add_texts(app, "--text", options->source.texts, "TEXT",
            "A text to embed before those of files. May be given several times (default: none).");
  refuse_empty(add_text(app, "-o,--output", options->output, "FILE",
                        "Writes to FILE, which appears only when it is complete. Until then the output is kept in "
                        "FILE.part, and the same command continues it after Ctrl-C or a crash. A pipe or a device is "
                        "written to directly (default: stdout)."),
               "-o", "give the name of a file, or - for stdout");
  app.add_option(
         "--outputs", [options](const std::string& given) { return read_outputs(given, options->outputs); },
         "The outputs to give, all of one pass of the network: names with commas between them, such as "
         "dense,token_vectors. `latebind inspect MODEL` names those of a model (default: the model's own output).")
      ->type_name("NAMES");
  add_word(
      app, "--output-format", options->output_format,
      "Format of the results. jsonl: a line {\"index\":N,\"embedding\":[...]} per text; numbers round-trip as f32. "
      "Sparse weights (SPLADE) are \"indices\":[...],\"values\":[...], and vectors of tokens (ColBERT) are "
      "\"vectors\":[[...],...]; with several --outputs, each is a member with its name. npy: one array of shape "
      "(texts, dimension), type '<f4'; for stdout or a pipe it is kept in a temporary file until it is complete. "
      "Vectors of tokens, and several --outputs, are files of their own beside FILE: vectors.NAME.npy and "
      "vectors.NAME.counts.npy. f32: only the numbers, little-endian, row by row. parquet: the rows of FILE with a "
      "column of vectors, written by the Python package, without --outputs (default: by FILE's ending, which must then "
      "be .jsonl, .npy or .parquet; jsonl for a name without one).");
  options->prompt.add_to(app, "every text");
  options->prompt.add_role_to(app);
  add_text_source(app, options->source, TextIds::kWritten);
  add_dimensions(app, options->dimensions);
  app.add_flag("--restart", options->restart, "Discards what an interrupted run left in FILE.part.");
  app.add_flag("-q,--quiet", options->quiet, "Hides progress and summary; errors and fallbacks are still reported.");
  app.add_option(
      "FILE", options->source.files,
      "Files of texts, read one after the other: lines, JSON lines (.jsonl) and tables (.csv, .tsv), also "
      "packed (.gz); - is stdin (default: stdin if no --text is given). Binary tables (.parquet, .arrow) are "
      "read by the Python package and go into a file (docs/bulk.md).");
  app.footer(
      "Memory use does not grow with the input. Progress is shown if stderr is a terminal; the\n"
      "summary shows the device, the precision, texts/s, tokens/s and the share of padding.\n"
      "\n"
      "Examples:\n"
      "  latebind embed all-MiniLM-L6-v2 --text \"hello world\"\n"
      "  latebind embed all-MiniLM-L6-v2 notes.txt > vectors.jsonl\n"
      "  latebind embed all-MiniLM-L6-v2 dump.jsonl.gz --text-field body -o vectors.npy");
  app.callback([options, &chosen] { chosen = [options] { return embed(*options); }; });
}

}  // namespace latebind::cli
