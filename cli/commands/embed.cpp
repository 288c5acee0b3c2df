// latebind embed: files of text to vectors.
#include <chrono>
#include <deque>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>

#include "app/apart.h"
#include "cli/data/vector_writer.h"
#include "cli/terminal/embedder_options.h"
#include "cli/terminal/parser.h"
#include "cli/terminal/progress.h"
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
  VectorFormat format = VectorFormat::kJsonl;
  std::string output;
  bool quiet = false;
};

Result<embedding::EmbedStats> embed_texts(const EmbedArguments& options, TextReader& reader,
                                          const embedding::Embedder& embedder, VectorWriter& writer) {
  Progress progress(reader.total_bytes(), options.quiet);
  // Bytes of the texts that are in the stream, so that progress counts what is done and not what is read.
  std::deque<std::uint64_t> pending;
  TextRecord record;
  using Text = std::optional<std::string_view>;
  const auto next = [&]() -> Result<Text> {
    LB_ASSIGN_OR_RETURN(const bool more, reader.next(record));
    if (!more) return Text();
    pending.push_back(record.bytes);
    return Text(record.text);
  };
  const auto deliver = [&](const embedding::VectorWindow& window) -> Status {
    LB_RETURN_IF_ERROR(writer.write(window));
    std::uint64_t bytes = 0;
    for (std::size_t i = 0; i < window.token_counts.size(); ++i) {
      bytes += pending.front();
      pending.pop_front();
    }
    progress.advance(window.token_counts.size(), bytes);
    return {};
  };
  LB_ASSIGN_OR_RETURN(const auto stream, embedding::EmbedStream::open(
                                             embedder, stream_options(progress, options.prompt, options.dimensions)));
  LB_RETURN_IF_ERROR(embedding::embed_all(*stream, next, deliver));
  LB_RETURN_IF_ERROR(writer.finish());
  return stream->stats();
}

// What is written over nothing that is read.
Status check_places(const EmbedArguments& options, const std::string& model) {
  if (options.output.empty() || options.output == "-") return {};
  for (const std::string& file : options.source.files)
    LB_RETURN_IF_ERROR(app::check_apart_from_file({"-o", options.output}, {"FILE", file}));
  return app::check_file_apart({"-o", options.output}, {"MODEL", model});
}

// Which models give what is written.
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

Exit embed(const EmbedArguments& options) {
  const auto runtime = make_runtime(options.embedder.flags, core::PerformanceHint::kThroughput);
  if (!runtime.ok()) return misuse("embed", runtime.status().message());
  if (const auto apart = check_places(options, options.embedder.model); !apart.ok()) {
    return misuse("embed", apart.message());
  }
  // What can fail cheaply fails before the model is loaded.
  auto reader = open_texts(options.source);
  if (!reader.ok()) return fail(reader.status());
  auto sink = open_sink(options.output);
  if (!sink.ok()) return fail(sink.status());
  // A model that was given by its name has a folder now.
  EmbedderOptions opening = options.embedder;
  if (const auto found = opening.find_model(runtime->onnx_file, kind_for(options.format)); !found.ok()) {
    return fail(found);
  }
  if (const auto apart = check_places(options, opening.model); !apart.ok()) return misuse("embed", apart.message());
  const auto embedder =
      open_network(opening, *runtime, kind_for(options.format), Telling::kFallback, options.prompt.role);
  if (!embedder.ok()) return fail(embedder.status());
  const std::size_t dimensions = options.dimensions > 0 ? options.dimensions : (*embedder)->dimension();
  const auto writer = VectorWriter::make(options.format, *std::move(sink), dimensions);
  if (!writer.ok()) return fail(writer.status());

  const auto attested = (*embedder)->attestation();
  const auto start = std::chrono::steady_clock::now();
  const auto stats = embed_texts(options, *reader, **embedder, **writer);
  note_takeover(*attested, *(*embedder)->attestation());
  if (!stats.ok()) return fail(stats.status());
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
  Command& app = *program.add_subcommand("embed", "Turns texts into vectors, in input order.");
  options->embedder.add_to(app);
  add_texts(app, "--text", options->source.texts, "TEXT",
            "A text to embed, before those of files; may be given several times (default: none).");
  refuse_empty(add_text(app, "-o,--output", options->output, "FILE",
                        "Writes to FILE, which appears only when it is complete; a pipe or a device is written "
                        "to directly (default: stdout)."),
               "-o", "give the name of a file, or - for stdout");
  add_word(
      app, "--output-format", options->format,
      "How vectors are written. jsonl: {\"index\":N,\"embedding\":[...]} a line, numbers that read back as the same "
      "f32. npy: one array of shape (texts, dimension), type '<f4'; on stdout or a pipe it is "
      "kept in a temporary file until it is complete. f32: the numbers alone, little-endian, "
      "row after row. sparse: {\"index\":N,\"indices\":[...],\"values\":[...]} a line, of a sparse encoder "
      "(SPLADE): the weights of the vocabulary's entries that have one. multi-vector: "
      "{\"index\":N,\"vectors\":[[...],...]} a line, of a multi-vector encoder (ColBERT): a vector for each token "
      "that has one (default jsonl).");
  options->prompt.add_to(app, "every text");
  options->prompt.add_role_to(app);
  add_text_source(app, options->source);
  add_dimensions(app, options->dimensions);
  app.add_flag("-q,--quiet", options->quiet, "No progress and no summary; errors and a fallback are still told.");
  app.add_option("FILE", options->source.files,
                 "Files of text, one after the other; - is stdin (default: stdin, where no --text is given).");
  app.footer(
      "Memory does not grow with the input. Progress is shown when stderr is a terminal; the\n"
      "summary tells device, precision, texts/s, tokens/s and the share of padding.\n\n"
      "Examples:\n"
      "  latebind embed all-MiniLM-L6-v2 --text \"hello world\"\n"
      "  latebind embed all-MiniLM-L6-v2 notes.txt > vectors.jsonl\n"
      "  zcat dump.jsonl.gz | latebind embed all-MiniLM-L6-v2 --input-format jsonl \\\n"
      "      --text-field body --output-format npy -o vectors.npy -");
  app.callback([options, &chosen] { chosen = [options] { return embed(*options); }; });
}

}  // namespace latebind::cli
