// latebind embed: converts files of text to vectors.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <deque>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "app/apart.h"
#include "app/index/model_digest.h"
#include "cli/data/file_kinds.h"
#include "cli/data/vector_writer.h"
#include "cli/terminal/embedder_options.h"
#include "cli/terminal/interruption.h"
#include "cli/terminal/kept_output.h"
#include "cli/terminal/parser.h"
#include "cli/terminal/progress.h"
#include "cli/terminal/python_engine.h"
#include "core/platform/files/folders.h"
#include "core/platform/os_error.h"
#include "core/text/quote.h"
#include "embedding/embed_stream.h"

namespace latebind::cli {
namespace {

using core::Result;
using core::Status;

struct EmbedArguments {
  EmbedderOptions embedder{};
  PromptArguments prompt{};
  TextSource source{};
  std::size_t dimensions = 0;
  std::optional<VectorFormat> output_format{};
  // The format in use: as given, or derived from the output's name.
  VectorFormat format = VectorFormat::kJsonl;
  std::string output;
  bool restart = false;
  bool quiet = false;
};

// Texts per window of a resumable output. Constant, because resuming must not depend on the terminal.
constexpr std::size_t kKeptWindowTexts = 1024;

// The destination of the vectors. Without `kept`, the run cannot be resumed.
struct Destination {
  std::unique_ptr<VectorWriter> writer{};
  KeptOutput* kept = nullptr;
  std::unique_ptr<ByteSink> ids{};  // beside the output; null: with the vectors, or dropped
  bool has_ids = false;
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
    LB_RETURN_IF_ERROR(to.writer->write(window, ids));
    if (to.kept != nullptr) LB_RETURN_IF_ERROR(to.kept->advance(texts, pending[texts - 1], has_ids));
    pending.erase(pending.begin(), pending.begin() + static_cast<std::ptrdiff_t>(texts));
    progress.advance(texts, bytes);
    return {};
  };
  auto windows = stream_options(progress, options.prompt, options.dimensions);
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

// Rejects an output that would overwrite an input.
Status check_places(const EmbedArguments& options, const std::string& model) {
  if (options.output.empty() || options.output == "-") return {};
  const std::string ids = platform::path_to_utf8(app::ids_file_of(platform::path_from_utf8(options.output)));
  for (const std::string& file : options.source.files) {
    LB_RETURN_IF_ERROR(app::check_apart_from_file({"-o", options.output}, {"FILE", file}));
    LB_RETURN_IF_ERROR(app::check_apart_from_file({"the file of ids", ids}, {"FILE", file}));
  }
  return app::check_file_apart({"-o", options.output}, {"MODEL", model});
}

// Derives formats that were not given from the files' names.
Status choose_formats(EmbedArguments& options) {
  if (options.output_format) {
    options.format = *options.output_format;
  } else if (ends_in_any(options.output, {".npy"})) {
    options.format = VectorFormat::kNpy;
  } else if (is_parquet(options.output)) {
    options.format = VectorFormat::kParquet;
  } else if (is_no_output_format(options.output)) {
    return Status(core::StatusCode::kInvalidArgument,
                  fmt::format("-o {}: nothing is written in the format of that ending: end the name in .jsonl, .npy or "
                              ".parquet, or name a format with --output-format",
                              core::quoted(options.output)));
  }
  if (options.source.format) return {};
  if (const auto json = std::ranges::find_if(options.source.files, is_json); json != options.source.files.end()) {
    return Status(
        core::StatusCode::kInvalidArgument,
        fmt::format("{}: a file that ends in .json may be one document, which is not read: if each line is an "
                    "object, say --input-format jsonl; to embed its lines as they are, --input-format lines",
                    core::quoted(*json)));
  }
  return {};
}

// Whether every text is a line of a file.
bool are_all_lines(const TextSource& source) {
  return std::ranges::all_of(source.files, [&](const std::string& file) {
    return source.format.value_or(format_of_name(file)) == TextFormat::kLines;
  });
}

// Everything that affects the vectors and how they are written.
Result<app::Json> kept_settings(const EmbedArguments& options) {
  app::Json json;
  json["output_format"] = core::word_of(options.format);
  // Without the option, it follows from the names, which the manifest has.
  json["input_format"] = options.source.format ? app::Json(core::word_of(*options.source.format)) : app::Json();
  if (!are_all_lines(options.source)) {
    json["text_field"] = options.source.field;
    json["id_field"] = options.source.id_field;
  }
  json["prompt"] = options.prompt.text ? app::Json(*options.prompt.text) : app::Json();
  json["prompt_name"] = options.prompt.name ? app::Json(*options.prompt.name) : app::Json();
  const bool has_role = options.prompt.role != embedding::TextRole::kUnspecified;
  json["role"] = has_role ? app::Json(core::word_of(options.prompt.role)) : app::Json();
  json["dimensions"] = options.dimensions > 0 ? app::Json(options.dimensions) : app::Json();
  json["window_texts"] = kKeptWindowTexts;
  app::Json& embedder = json["embedder"] = app::Json::object();
  LB_ASSIGN_OR_RETURN(const auto settings, options.embedder.flags.effective());
  for (const std::string& key : settings.keys()) {
    const SettingGroup group = group_of(key);
    const bool matters =
        group == SettingGroup::kEmbedding || group == SettingGroup::kPlacement || group == SettingGroup::kDevice;
    if (matters && settings.is_set(key)) embedder[key] = settings.text_of(key);
  }
  return json;
}

// Whether only the Python package can do the work.
bool is_for_python(const EmbedArguments& options) {
  return options.format == VectorFormat::kParquet || std::ranges::any_of(options.source.files, is_binary_table);
}

// Whether the Python package can write the output.
bool fits_python(const EmbedArguments& options) {
  switch (options.format) {
    case VectorFormat::kParquet:
      return is_parquet(options.output);
    case VectorFormat::kNpy:
      return ends_in_any(options.output, {".npy"});
    case VectorFormat::kJsonl:
      return !is_packed(options.output) && is_json_lines(options.output);
    default:
      return false;
  }
}

Result<std::vector<std::string>> python_arguments(const EmbedArguments& options) {
  const auto refused = [](std::string what) { return Status(core::StatusCode::kInvalidArgument, std::move(what)); };
  const bool is_stdin =
      options.source.files.empty() || std::ranges::find(options.source.files, "-") != options.source.files.end();
  if (!options.source.texts.empty()) {
    return refused(
        "--text can be written as JSON lines, npy or f32; the Python package, which handles Parquet and Arrow, embeds "
        "files");
  }
  if (is_stdin) return refused("Parquet cannot be made from stdin: name a FILE");
  if (!fits_python(options)) {
    return refused(
        "the output of Parquet and Arrow files must be a file that ends in .parquet, .npy or .jsonl: name one with -o");
  }
  std::vector<std::string> words{"-o", options.output, "--model", options.embedder.model};
  const auto add = [&words](std::string_view name, std::string value) {
    words.emplace_back(name);
    words.push_back(std::move(value));
  };
  add("--text-column", options.source.field);
  if (options.source.id_field != "id" && !options.source.id_field.empty()) add("--id-column", options.source.id_field);
  if (options.source.format) {
    add("--input-format",
        std::string(*options.source.format == TextFormat::kLines ? "txt" : core::word_of(*options.source.format)));
  } else if (!std::ranges::all_of(options.source.files, is_known_to_python)) {
    if (!are_all_lines(options.source)) {
      return refused(
          "the names of some files say nothing of their format: set --input-format, or embed these by themselves");
    }
    add("--input-format", "txt");
  }
  // Each as one word, because a value may begin with a dash.
  if (options.prompt.text) words.push_back("--prompt=" + *options.prompt.text);
  if (options.prompt.name) words.push_back("--prompt-name=" + *options.prompt.name);
  if (options.prompt.role != embedding::TextRole::kUnspecified) {
    add("--role", std::string(core::word_of(options.prompt.role)));
  }
  if (options.dimensions > 0) add("--dimensions", std::to_string(options.dimensions));
  if (options.restart) words.emplace_back("--restart");
  if (options.quiet) words.emplace_back("--quiet");
  LB_ASSIGN_OR_RETURN(const auto settings, options.embedder.flags.effective());
  for (const std::string& key : settings.keys()) {
    if (!settings.is_set(key) || group_of(key) == SettingGroup::kServer) continue;
    words.push_back(fmt::format("--set={}={}", key, settings.text_of(key)));
  }
  words.emplace_back("--");
  words.insert(words.end(), options.source.files.begin(), options.source.files.end());
  return words;
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

// The kind of model that produces this format.
embedding::EncoderKind kind_for(VectorFormat format) {
  switch (format) {
    case VectorFormat::kSparse:
      return embedding::EncoderKind::kSparseEncoder;
    case VectorFormat::kMultiVector:
      return embedding::EncoderKind::kMultiVectorEncoder;
    default:
      return embedding::EncoderKind::kEmbedder;
  }
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
  auto kept = KeptOutput::open(options.output, options.source, options.restart);
  if (!kept.ok()) {
    const bool is_misuse = kept.status().code() == core::StatusCode::kInvalidArgument;
    return is_misuse ? misuse("embed", kept.status().message()) : fail(kept.status());
  }
  Result<std::unique_ptr<ByteSink>> sink = *kept ? (*kept)->sink() : open_sink(options.output);
  if (!sink.ok()) return fail(sink.status());
  // Resolves a model given by name to its folder.
  EmbedderOptions opening = options.embedder;
  if (const auto found = opening.find_model(runtime->onnx_file, kind_for(options.format)); !found.ok()) {
    return fail(found);
  }
  if (const auto apart = check_places(options, opening.model); !apart.ok()) return misuse("embed", apart.message());
  const auto embedder =
      open_network(opening, *runtime, kind_for(options.format), FallbackNote::kPrint, options.prompt.role);
  if (!embedder.ok()) return fail(embedder.status());
  const std::size_t dimensions = options.dimensions > 0 ? options.dimensions : (*embedder)->dimension();
  const auto attested = (*embedder)->attestation();
  Destination to{.kept = kept->get()};
  std::optional<Interruption> interruption;
  core::RunOptions limits;
  if (to.kept != nullptr) {
    // While inputs are read for their digests, Ctrl-C ends the process as usual, because nothing can be lost.
    auto settings = kept_settings(options);
    if (!settings.ok()) return misuse("embed", settings.status().message());
    const auto digest = [&] {
      core::FileDigests* const digests = runtime->load.cache ? &runtime->load.cache->store()->digests() : nullptr;
      return app::model_digest(opening.model, runtime->onnx_file, digests);
    };
    const auto begun = to.kept->begin({*std::move(settings), digest, attested->active, dimensions}, *reader);
    if (!begun.ok()) {
      const bool is_misuse = begun.code() == core::StatusCode::kInvalidArgument;
      return is_misuse ? misuse("embed", begun.message()) : fail(begun);
    }
    if (const std::string there = to.kept->kept(); !there.empty() && !options.quiet) note("continues: " + there);
    limits.cancellation = interruption.emplace().cancellation();
  }
  IdSink ids;
  if (has_ids_beside(options.format) && !are_all_lines(options.source)) {
    if (to.kept != nullptr) {
      ids = [&to](std::string_view line) { return to.kept->write_id(line); };
    } else if (!options.output.empty() && options.output != "-" && (*sink)->can_rewrite()) {
      auto beside = open_sink(platform::path_to_utf8(app::ids_file_of(platform::path_from_utf8(options.output))));
      if (!beside.ok()) return fail(beside.status());
      to.ids = *std::move(beside);
      ids = [&to](std::string_view line) { return to.ids->write(line); };
    }
  }
  auto writer = VectorWriter::make(options.format, *std::move(sink), dimensions, to.kept ? to.kept->texts() : 0, ids);
  if (!writer.ok()) return end_early(to.kept, writer.status(), nullptr);
  to.writer = *std::move(writer);

  const auto start = std::chrono::steady_clock::now();
  const auto stats = embed_texts(options, *reader, **embedder, to, limits);
  note_takeover(*attested, *(*embedder)->attestation());
  if (!stats.ok()) return end_early(to.kept, stats.status(), interruption ? &*interruption : nullptr);
  note_fallback_texts(*stats, *(*embedder)->attestation());
  if (!options.quiet) {
    note_dimensions(**embedder, options.dimensions);
    const std::chrono::duration<double> time = std::chrono::steady_clock::now() - start;
    note(summary(*stats, time.count(), **embedder));
  }
  return Exit::kGood;
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
  add_word(app, "--output-format", options->output_format,
           "Format of the vectors. jsonl: a line {\"index\":N,\"embedding\":[...]} per text; numbers round-trip as "
           "f32. npy: one array of shape (texts, dimension), type '<f4'; for stdout or a pipe it is kept in a "
           "temporary file until it is complete. f32: only the numbers, little-endian, row by row. sparse: a line "
           "{\"index\":N,\"indices\":[...],\"values\":[...]} per text with the nonzero weights of a sparse encoder "
           "(SPLADE). multi-vector: a line {\"index\":N,\"vectors\":[[...],...]} per text with the token vectors of a "
           "multi-vector encoder (ColBERT). parquet: the rows of FILE with a column of vectors, written by the Python "
           "package (default: by FILE's extension: .npy, .parquet, otherwise jsonl).");
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
