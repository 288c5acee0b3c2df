// latebind bench embed: measures how fast texts become vectors.
#include "cli/commands/bench.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <optional>
#include <utility>

#include "app/json_text.h"
#include "cli/data/percentile.h"
#include "cli/terminal/byte_sink.h"
#include "cli/terminal/embedder_options.h"
#include "cli/terminal/parser.h"
#include "core/platform/system_info.h"
#include "core/text/counted.h"

namespace latebind::cli {
namespace {

using core::Result;
using core::Status;
using core::StatusCode;
using Clock = std::chrono::steady_clock;

// All texts are kept in memory, so their size is limited.
constexpr std::size_t kTextBytesMax = std::size_t{256} << 20;

struct Figures {
  core::ActiveConfig active;
  bool fallback = false;
  embedding::EmbedStats stats;  // of the best pass
  double seconds = 0;           // of the best pass
  double load_ms = 0;
  double start_uncached_ms = 0;
  double start_cached_ms = 0;
  double rss_mb = 0;
  std::vector<double> single_ms;
};

Result<std::vector<std::string>> read_texts(const BenchArguments& options) {
  LB_ASSIGN_OR_RETURN(auto reader, open_texts(options.source));
  std::vector<std::string> texts;
  std::size_t bytes = 0;
  TextRecord record;
  while (texts.size() < options.texts_max) {
    LB_ASSIGN_OR_RETURN(const bool more, reader.next(record));
    if (!more) break;
    if (record.text.empty()) continue;
    bytes += record.text.size();
    if (bytes > kTextBytesMax) {
      return Status(StatusCode::kInvalidArgument,
                    fmt::format("the texts have more than {} MiB; use fewer, with --texts", kTextBytesMax >> 20U));
    }
    texts.push_back(std::move(record.text));
  }
  if (texts.empty()) return Status(StatusCode::kInvalidArgument, "the input has no text to embed");
  return texts;
}

// Runs over all texts several times and keeps the best pass.
Status measure_throughput(const BenchArguments& options, std::span<const std::string_view> texts, Figures& figures) {
  LB_ASSIGN_OR_RETURN(const app::Runtime runtime, runtime_without_cache(options, core::PerformanceHint::kThroughput));
  auto start = Clock::now();
  LB_ASSIGN_OR_RETURN(const auto embedder, open_network(options.embedder, runtime, "dense"));
  figures.load_ms = seconds_since(start) * 1000;
  const auto attested = embedder->attestation();
  std::vector<float> vectors(texts.size() * embedder->dimension());
  for (std::size_t i = 0; i < options.repeat; ++i) {
    start = Clock::now();
    LB_ASSIGN_OR_RETURN(const auto stats, embedder->embed(texts, vectors));
    const double seconds = seconds_since(start);
    if (i == 0 || seconds < figures.seconds) {
      figures.seconds = seconds;
      figures.stats = stats;
    }
  }
  const auto attested_now = embedder->attestation();
  note_takeover(*attested, *attested_now);
  figures.active = attested_now->active;
  note_fallback_texts(figures.stats, *attested_now);
  figures.fallback = attested_now->fallback || figures.stats.fallback_texts > 0;
  figures.rss_mb = static_cast<double>(platform::peak_resident_bytes()) / (1 << 20);
  return {};
}

// Measures single texts, one after the other.
Status measure_latency(const BenchArguments& options, std::span<const std::string_view> texts, Figures& figures) {
  const auto singles = single_texts(texts, options.singles);
  if (singles.empty()) return {};
  LB_ASSIGN_OR_RETURN(const app::Runtime runtime, runtime_without_cache(options, core::PerformanceHint::kLatency));
  LB_ASSIGN_OR_RETURN(const auto embedder, open_network(options.embedder, runtime, "dense", FallbackNote::kOmit));
  std::vector<float> vector(embedder->dimension());
  for (const std::string_view text : singles) {
    LB_ASSIGN_OR_RETURN(const double seconds, time_single(*embedder, text, vector));
    figures.single_ms.push_back(seconds * 1000);
  }
  return {};
}

// Measures the time to the first vector, within this process, which has already opened the vendors' libraries: the best
// of three starts without the compile cache and of three with it.
Status measure_starts(const BenchArguments& options, std::string_view text, Figures& figures) {
  constexpr int kStarts = 3;
  bool has_cache = false;
  const auto start = [&](bool cached, double& best_ms) -> Status {
    const auto begin = Clock::now();
    LB_ASSIGN_OR_RETURN(app::Runtime runtime, make_runtime(options.embedder.flags, core::PerformanceHint::kThroughput));
    has_cache = runtime.load.cache != nullptr;
    if (!cached) runtime.load.cache = nullptr;
    LB_ASSIGN_OR_RETURN(const auto embedder, open_network(options.embedder, runtime, "dense", FallbackNote::kOmit));
    std::vector<float> vector(embedder->dimension());
    LB_RETURN_IF_ERROR(embedder->embed({&text, 1}, vector).status());
    const double ms = seconds_since(begin) * 1000;
    if (best_ms == 0 || ms < best_ms) best_ms = ms;
    return {};
  };
  double filling_ms = 0;
  LB_RETURN_IF_ERROR(start(true, filling_ms));
  for (int i = 0; i < kStarts; ++i) {
    LB_RETURN_IF_ERROR(start(false, figures.start_uncached_ms));
    if (has_cache) LB_RETURN_IF_ERROR(start(true, figures.start_cached_ms));
  }
  return {};
}

std::string report(const BenchArguments& options, const Figures& figures) {
  const double texts_per_s = static_cast<double>(figures.stats.texts) / figures.seconds;
  const double tokens_per_s = static_cast<double>(figures.stats.tokens) / figures.seconds;
  const double p50 = percentile(figures.single_ms, 0.50);
  const double p95 = percentile(figures.single_ms, 0.95);
  const double p99 = percentile(figures.single_ms, 0.99);
  if (!options.json) {
    return fmt::format(
        "device         {}\n"
        "texts          {} ({}, {} cut)\n"
        "throughput     {:.1f} texts/s, {:.0f} tokens/s (best pass of {})\n"
        "padding        {:.1f} %\n"
        "single text    p50 {:.2f} ms, p95 {:.2f} ms, p99 {:.2f} ms ({})\n"
        "load           {:.0f} ms\n"
        "start          {:.0f} ms to the first vector, {:.0f} ms from the compile cache\n"
        "peak memory    {:.0f} MiB\n",
        describe(figures.active), figures.stats.texts, core::counted(figures.stats.tokens, "token"),
        figures.stats.truncated_texts, texts_per_s, tokens_per_s, options.repeat, 100 * figures.stats.padding_ratio(),
        p50, p95, p99, core::counted(figures.single_ms.size(), "text"), figures.load_ms, figures.start_uncached_ms,
        figures.start_cached_ms, figures.rss_mb);
  }
  app::Json json;
  json["texts_per_s"] = app::rounded(texts_per_s, 1);
  json["tokens_per_s"] = app::rounded(tokens_per_s, 0);
  json["p50_ms"] = app::rounded(p50, 3);
  json["p95_ms"] = app::rounded(p95, 3);
  json["p99_ms"] = app::rounded(p99, 3);
  json["padding_ratio"] = app::rounded(figures.stats.padding_ratio(), 4);
  json["load_ms"] = app::rounded(figures.load_ms, 1);
  json["start_uncached_ms"] = app::rounded(figures.start_uncached_ms, 1);
  json["start_cached_ms"] = app::rounded(figures.start_cached_ms, 1);
  json["rss_mb"] = app::rounded(figures.rss_mb, 1);
  json["device"] = figures.active.id();
  json["precision"] = core::word_of(figures.active.precision);
  json["backend"] = figures.active.backend;
  json["device_full_name"] = figures.active.device_full_name;
  json["runtime_version"] = figures.active.runtime_version;
  json["fallback"] = figures.fallback;
  json["threads"] = figures.active.threads;
  json["texts"] = figures.stats.texts;
  json["tokens"] = figures.stats.tokens;
  json["single_texts"] = figures.single_ms.size();
  return app::to_text(json);
}

Exit bench_embed(BenchArguments options) {
  // Each part makes its runtime again; this one finds mistakes in the command line.
  const auto checked = make_runtime(options.embedder.flags, core::PerformanceHint::kLatency);
  if (!checked.ok()) return misuse("bench embed", checked.status().message());
  const auto texts = read_texts(options);
  if (!texts.ok()) return fail(texts.status());
  // Before the timed loading.
  if (const auto found = options.embedder.find_model(checked->onnx_file); !found.ok()) return fail(found);
  const std::vector<std::string_view> views(texts->begin(), texts->end());
  if (options.compare || checked->settings.precisions.size() > 1) return bench_compare(options, views);
  Figures figures;
  if (const auto status = measure_throughput(options, views, figures); !status.ok()) {
    return fail(status);
  }
  if (const auto status = measure_latency(options, views, figures); !status.ok()) {
    return fail(status);
  }
  if (const auto status = measure_starts(options, views.front(), figures); !status.ok()) {
    return fail(status);
  }
  const auto printed = print(report(options, figures));
  return printed.ok() ? Exit::kGood : fail(printed);
}

void add_bench_embed(Command& bench, Action& chosen) {
  auto options = std::make_shared<BenchArguments>();
  Command& app = *bench.add_subcommand("embed", "Measures the speed of embedding.");
  options->embedder.add_to(app);
  add_text_source(app, options->source, TextIds::kDropped);
  add_integer(app, "--repeat", options->repeat, 1, 1000,
              "Passes over all texts; the best one counts (default 2). The first pass also warms up, so 1 measures a "
              "cold start.");
  add_integer(app, "--texts", options->texts_max, 1, 100000,
              "Largest number of texts to read from the file (default 10000). Empty lines do not count.");
  add_integer(app, "--singles", options->singles, 0, 100000,
              "Number of single texts to time, taken evenly from the file; each is run once before it is timed "
              "(default 200; 0: none, and the figures are 0).");
  app.add_flag("--compare", options->compare,
               "Compares all devices of --device (default: those of auto): --repeat rounds of all texts, at least 5, "
               "alternating between devices, and the single texts; then recommends one. Several precisions, as in "
               "--precision f32,bf16, are compared in the same way: on every device with --compare, otherwise on the "
               "first device that supports each.");
  app.add_flag(
      "--json", options->json,
      "Prints {texts_per_s, tokens_per_s, p50_ms, p95_ms, p99_ms, padding_ratio, load_ms, "
      "start_uncached_ms, start_cached_ms, rss_mb, device, precision, backend, device_full_name, "
      "runtime_version, fallback, "
      "threads, texts, tokens, single_texts}; with --compare or several precisions {devices: [{device, precision, "
      "texts_per_s: {least, median, most}, p50_ms, load_ms, cosine_least}], left_out: [{device, reason}], "
      "for_many: {device, precision}, for_single}.");
  app.add_option("FILE", options->source.files, "File of texts; - is stdin.")->required()->repeats(Repeat::kError);
  app.footer(
      "The benchmark has two parts. Throughput: the model is loaded with the vendor's throughput\n"
      "hint, and one call embeds all texts, from text to vector; load_ms and rss_mb (peak resident\n"
      "memory in MiB, including the vendor's libraries) belong to this part. Latency: the model is\n"
      "loaded again with the latency hint, and single texts are timed one after the other; p50, p95\n"
      "and p99 are nearest-rank percentiles in milliseconds. start_uncached_ms and start_cached_ms\n"
      "measure from opening the model to the first vector, without and with the compile cache (best\n"
      "of three each, with the vendor's library already open; start_cached_ms is 0 with --no-cache).\n"
      "The other parts do not use the cache. padding_ratio is the share of computed tokens that was\n"
      "padding, from 0 to 1.");
  app.callback([options, &chosen] { chosen = [options] { return bench_embed(*options); }; });
}

}  // namespace

Result<app::Runtime> runtime_without_cache(const BenchArguments& options, core::PerformanceHint hint) {
  LB_ASSIGN_OR_RETURN(app::Runtime runtime, make_runtime(options.embedder.flags, hint));
  runtime.load.cache = nullptr;
  return runtime;
}

std::vector<std::string_view> single_texts(std::span<const std::string_view> texts, std::size_t count) {
  count = std::min(count, texts.size());
  std::vector<std::string_view> singles;
  for (std::size_t i = 0; i < count; ++i)
    singles.push_back(texts[i * texts.size() / count]);
  return singles;
}

Result<double> time_single(const embedding::Embedder& embedder, std::string_view text, std::span<float> vector) {
  LB_RETURN_IF_ERROR(embedder.embed({&text, 1}, vector).status());
  const auto start = Clock::now();
  LB_RETURN_IF_ERROR(embedder.embed({&text, 1}, vector).status());
  return seconds_since(start);
}

void add_bench(Command& program, Action& chosen) {
  Command& app = *program.add_subcommand("bench", "Measures speed and memory.");
  app.require_subcommand();
  add_bench_embed(app, chosen);
}

}  // namespace latebind::cli
