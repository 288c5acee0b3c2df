#include "embedding/embedder.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <deque>
#include <exception>
#include <new>
#include <utility>

#include "core/in_background.h"
#include "core/platform/files/folders.h"
#include "embedding/embedder_parts.h"
#include "embedding/model_folder.h"
#include "embedding/place_network.h"
#include "embedding/text_limits.h"
#include "embedding/vector_shape.h"

namespace latebind::embedding {
namespace {

using core::Status;
using core::StatusCode;

// Texts that are sorted and batched together; a longer input is done window by window, so that the ids in memory stay
// bounded and the next window is tokenised while the last one is being computed.
constexpr std::size_t kWindowTexts = 16384;
// The same where each token has a vector.
constexpr std::size_t kTokenWindowTexts = 256;

// Tokens of a batch, where nobody says how many. More make a CPU no faster and take more memory, and whoever comes next
// waits for them; what has more arithmetic units needs more to keep them busy.
constexpr std::size_t kBatchTokensOfCpu = 1024;
constexpr std::size_t kBatchTokensOfOthers = 2048;

// Every token of a sparse encoder's batch has a number for each entry of the vocabulary, of which the device keeps one
// for each text in the end: so many of them take 64 MiB, and more make it no faster.
constexpr std::size_t kTermLogitsMost = std::size_t{1} << 24;

// A fallback stays the answer of a call, whichever device computed the rest.
void take_answer(std::shared_ptr<const core::Attestation> one, std::shared_ptr<const core::Attestation>& all) {
  if (one != nullptr && (one->fallback || !all->fallback)) all = std::move(one);
}

// What computes texts: the network on a device, or the table. Decides on the tokens of a batch where they are 0, and
// cuts batches to what there is room for.
core::Result<Forward> place(const core::Engine& engine, const ModelFolder& folder, const core::Placement& placement,
                            const EmbedderOptions& options, std::size_t max_tokens, std::size_t& batch_tokens) {
  if (folder.term_table != nullptr) {
    if (batch_tokens == 0) batch_tokens = kBatchTokensOfCpu;
    return Forward::of_table(folder.term_table, folder.sparse);
  }
  const bool is_multi_vector = folder.kind == EncoderKind::kMultiVectorEncoder;
  OutputRule rule{.keep_tokens = options.token_vectors || is_multi_vector,
                  .normalize_tokens = folder.normalize && is_multi_vector && !options.token_vectors,
                  .pooling = folder.pooling,
                  .normalize = folder.normalize};
  const bool token_states = options.token_vectors || folder.pools_here();
  LB_ASSIGN_OR_RETURN(PlacedNetwork placed,
                      place_network(engine, folder, placement, options.load, max_tokens, token_states));
  if (batch_tokens == 0) {
    batch_tokens = placed.model->device_kind() == core::DeviceKind::kCpu ? kBatchTokensOfCpu : kBatchTokensOfOthers;
  }
  rule.may_be_unattended = placed.may_be_unattended;
  rule.pooled = placed.pooled;
  rule.dimension = placed.dimension;
  rule.output = placed.output;
  if (folder.kind == EncoderKind::kSparseEncoder) {
    rule.sparse = folder.sparse;
    batch_tokens = std::min(batch_tokens, std::max<std::size_t>(1, kTermLogitsMost / placed.dimension));
  }
  auto forward = Forward::bind(std::move(placed.model), rule);
  if (!forward.ok()) return forward.status().with_context(folder.name());
  return forward;
}

}  // namespace

Embedder::Embedder(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}
Embedder::~Embedder() = default;

core::Result<std::unique_ptr<Embedder>> Embedder::open(const core::Engine& engine,
                                                       const std::filesystem::path& model_folder,
                                                       const core::Placement& placement,
                                                       const EmbedderOptions& options) {
  if (!options.load.compile.input_shapes.empty()) {
    return Status(StatusCode::kInvalidArgument,
                  "input_shapes are for models that are loaded as they are; texts are computed in shapes of the "
                  "embedder's own (embedding.shapes, embedding.static_lengths)");
  }
  LB_ASSIGN_OR_RETURN(const ModelFolder folder, ModelFolder::open(model_folder, {.onnx_file = options.onnx_file}));
  if (options.kind && folder.kind != *options.kind) return wrong_kind(folder.name(), folder.kind);
  if (folder.queries == nullptr) return open_way(engine, folder, placement, options);
  if (options.role != TextRole::kUnsaid) {
    LB_ASSIGN_OR_RETURN(const ModelFolder* way, folder.way_of(options.role));
    LB_ASSIGN_OR_RETURN(auto embedder, open_way(engine, *way, placement, options));
    embedder->parts_->only = options.role;
    return embedder;
  }
  LB_ASSIGN_OR_RETURN(auto documents, open_way(engine, folder, placement, options));
  LB_ASSIGN_OR_RETURN(documents->parts_->queries, open_way(engine, *folder.queries, placement, options));
  documents->parts_->by_default = folder.by_default;
  const std::size_t of_queries = documents->parts_->queries->dimension();
  if (folder.kind == EncoderKind::kSparseEncoder || of_queries == documents->dimension()) return documents;
  return Status(StatusCode::kInvalidModel,
                fmt::format("{}: its vectors of queries have {} numbers, and those of documents {}", folder.name(),
                            of_queries, documents->dimension()));
}

core::Result<std::unique_ptr<Embedder>> Embedder::open_way(const core::Engine& engine, const ModelFolder& folder,
                                                           const core::Placement& placement,
                                                           const EmbedderOptions& options) {
  LB_ASSIGN_OR_RETURN(TextLimits limits, text_limits(folder, options.max_tokens));
  // The tokenizer is read while the vendor compiles.
  core::InBackground<core::Result<Tokenizer>> tokenizer_to_come =
      core::in_background([&folder] { return folder.open_tokenizer(); });
  std::size_t batch_tokens = options.batch_tokens;
  auto forward = place(engine, folder, placement, options, limits.longest(), batch_tokens);
  LB_ASSIGN_OR_RETURN(Tokenizer tokenizer, tokenizer_to_come.get());
  LB_RETURN_IF_ERROR(set_roles(folder, tokenizer, limits));
  LB_RETURN_IF_ERROR(forward.status());
  if (folder.network && tokenizer.vocabulary_size() > folder.network->vocabulary_size()) {
    limits.document.vocabulary_size = folder.network->vocabulary_size();
    if (limits.query) limits.query->vocabulary_size = limits.document.vocabulary_size;
  }
  if (folder.term_table != nullptr && tokenizer.vocabulary_size() > folder.term_table->size()) {
    return Status(StatusCode::kInvalidModel,
                  fmt::format("{}: 'weight' has {} numbers, but the tokenizer beside it has {} entries",
                              platform::path_to_utf8(*folder.term_table_file), folder.term_table->size(),
                              tokenizer.vocabulary_size()));
  }
  auto parts = std::make_unique<Parts>(std::move(tokenizer), *std::move(forward), std::move(limits), batch_tokens,
                                       options.on_batch, folder.prompts);
  parts->name = folder.name();
  parts->kind = folder.kind;
  parts->scores = folder.scores;
  parts->compares_by_mean = folder.multi_vector.mean;
  parts->matryoshka_dimensions = folder.matryoshka_dimensions;
  return std::unique_ptr<Embedder>(new Embedder(std::move(parts)));
}

bool Embedder::has_ways() const {
  return parts_->queries != nullptr;
}

core::Result<const Embedder*> Embedder::way_of(TextRole role) const {
  const Parts& parts = *parts_;
  if (parts.only != TextRole::kUnsaid && role != TextRole::kUnsaid && role != parts.only) {
    return Status(StatusCode::kInternal, fmt::format("{} was opened for texts with another role", parts.name));
  }
  if (parts.queries == nullptr) return this;
  const TextRole taken = role == TextRole::kUnsaid ? parts.by_default : role;
  if (taken == TextRole::kUnsaid) return role_is_missing(parts.name);
  return taken == TextRole::kQuery ? parts.queries.get() : this;
}

const std::string& Embedder::name() const {
  return parts_->name;
}
EncoderKind Embedder::kind() const {
  return parts_->kind;
}
std::size_t Embedder::dimension() const {
  return parts_->pipeline.dimension();
}
std::size_t Embedder::max_tokens(TextRole role) const {
  return parts_->pipeline.limits(role).max_tokens;
}
std::size_t Embedder::batch_tokens() const {
  return parts_->pipeline.batch_tokens();
}
graph::PoolingMode Embedder::pooling() const {
  return parts_->pipeline.forward().pooling();
}
bool Embedder::gives_token_vectors() const {
  return parts_->pipeline.forward().keeps_tokens();
}
bool Embedder::normalizes_token_vectors() const {
  return parts_->pipeline.forward().normalizes_tokens();
}
bool Embedder::compares_by_mean() const {
  return parts_->compares_by_mean;
}
bool Embedder::normalizes() const {
  return parts_->pipeline.forward().normalizes();
}
std::shared_ptr<const core::Attestation> Embedder::attestation() const {
  return parts_->pipeline.forward().attestation();
}

std::size_t Embedder::hung_runs() const {
  const std::size_t of_queries = parts_->queries != nullptr ? parts_->queries->hung_runs() : 0;
  return parts_->pipeline.forward().hung_runs() + of_queries;
}

const Prompts& Embedder::prompts() const {
  return parts_->pipeline.prompts();
}

const TextLimits& Embedder::limits() const {
  return parts_->pipeline.text_limits();
}

std::span<const std::size_t> Embedder::matryoshka_dimensions() const {
  return parts_->matryoshka_dimensions;
}

QueueState Embedder::queue_state() const {
  QueueState state = parts_->pipeline.scheduler().queue_state();
  if (parts_->queries != nullptr) {
    const QueueState of_queries = parts_->queries->queue_state();
    state.waiting_texts += of_queries.waiting_texts;
    state.waiting_tokens += of_queries.waiting_tokens;
    state.running_batches += of_queries.running_batches;
    state.running_tokens += of_queries.running_tokens;
  }
  return state;
}

core::Status Embedder::prepare() const {
  if (parts_->queries != nullptr) LB_RETURN_IF_ERROR(parts_->queries->prepare());
  return parts_->pipeline.forward().prepare();
}

std::shared_ptr<const Tokenizer> Embedder::tokenizer() const {
  return parts_->pipeline.tokenizer();
}

namespace {

// Where windows of vectors go.
struct DenseRows {
  std::span<float> out;
  VectorShape shape;
  // Straight to their place.
  bool direct = false;

  static constexpr std::size_t kWindow = kWindowTexts;
  [[nodiscard]] float* place(std::size_t first) const {
    return direct ? out.data() + first * shape.dimensions() : nullptr;
  }
  void take(Scheduler::Submission& done, std::size_t first) const {
    if (!direct) shape.write(done.vectors(), out.subspan(first * shape.dimensions()));
  }
};

struct SparseRows {
  std::span<SparseVector> out;

  static constexpr std::size_t kWindow = kWindowTexts;
  [[nodiscard]] static float* place(std::size_t /*first*/) { return nullptr; }
  void take(Scheduler::Submission& done, std::size_t first) const {
    std::ranges::move(done.take_sparse(), out.subspan(first).begin());
  }
};

struct TokenRows {
  const Embedder::TokenSink& sink;

  static constexpr std::size_t kWindow = kTokenWindowTexts;
  [[nodiscard]] static float* place(std::size_t /*first*/) { return nullptr; }
  void take(Scheduler::Submission& done, std::size_t first) const { sink(first, done.vector_counts(), done.vectors()); }
};

}  // namespace

// tokenize(first, count, limits, table) appends so many texts to the table; `rows` take the windows.
template <class Tokenize, class Rows>
core::Result<EmbedStats> Embedder::embed_windows(std::size_t count, const Rows& rows, const EmbedOptions& options,
                                                 const Tokenize& tokenize) const {
  const auto begin = std::chrono::steady_clock::now();
  Pipeline& pipeline = parts_->pipeline;
  LB_ASSIGN_OR_RETURN(const TokenLimits limits, pipeline.limits_of(options.texts));
  if (!options.token_counts.empty() && options.token_counts.size() < count) {
    return Status(StatusCode::kBufferTooSmall, fmt::format("{} texts have {} token counts; there is room for {}", count,
                                                           count, options.token_counts.size()));
  }
  if (options.answered_by != nullptr) *options.answered_by = attestation();
  EmbedStats stats;
  Scheduler::Owner owner;
  struct Window {
    std::size_t first = 0;
    Scheduler::Submission submission{};
  };
  std::deque<Window> windows;  // at most two: one being computed, one to follow
  const auto finish_first = [&]() -> Status {
    Window window = std::move(windows.front());
    windows.pop_front();
    Scheduler::Submission& done = window.submission;
    LB_RETURN_IF_ERROR(done.wait(options.limits));
    rows.take(done, window.first);
    const auto counts = done.token_counts();
    if (!options.token_counts.empty()) std::ranges::copy(counts, options.token_counts.subspan(window.first).begin());
    if (options.answered_by != nullptr) take_answer(done.answered_by(), *options.answered_by);
    stats += done.stats();
    return {};
  };
  try {
    for (std::size_t first = 0; first < count; first += Rows::kWindow) {
      const std::size_t texts = std::min(Rows::kWindow, count - first);
      Scheduler::Texts window{.tokens = {},
                              .first_position = first,
                              .out = rows.place(first),
                              .more_follows = first + texts < count,
                              .alone = options.alone,
                              .caller_helps = true,
                              .limits = options.limits};
      if (options.limits.is_bounded()) LB_RETURN_IF_ERROR(core::check_time(options.limits));
      LB_RETURN_IF_ERROR(tokenize(first, texts, limits, window.tokens));
      LB_ASSIGN_OR_RETURN(auto submission, pipeline.scheduler().submit(owner, std::move(window)));
      windows.push_back({first, std::move(submission)});
      if (windows.size() > 1) LB_RETURN_IF_ERROR(finish_first());
      LB_RETURN_IF_ERROR(windows.front().submission.help(options.limits));
    }
    while (!windows.empty())
      LB_RETURN_IF_ERROR(finish_first());
  } catch (const std::bad_alloc&) {
    return Status(StatusCode::kOutOfMemory, fmt::format("no memory left to embed {} texts", count));
  }
  stats.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return stats;
}

template <class Tokenize>
core::Result<EmbedStats> Embedder::embed_rows(std::size_t count, std::span<float> out, const EmbedOptions& options,
                                              const Tokenize& tokenize) const {
  LB_ASSIGN_OR_RETURN(const VectorShape shape, VectorShape::of(parts_->pipeline.forward(), options.texts));
  if (out.size() / shape.dimensions() < count) {
    return Status(StatusCode::kBufferTooSmall, fmt::format("{} texts need {} rows of {} floats; there is room for {}",
                                                           count, count, shape.dimensions(), out.size()));
  }
  // Where nobody leaves before they are there, and they stay as they are.
  const bool direct = !options.limits.is_bounded() && shape.is_as_computed();
  return embed_windows(count, DenseRows{.out = out, .shape = shape, .direct = direct}, options, tokenize);
}

core::Result<EmbedStats> Embedder::embed(std::span<const std::string_view> texts, std::span<float> out,
                                         const EmbedOptions& options) const {
  LB_ASSIGN_OR_RETURN(const Embedder* way, way_of(options.texts.role));
  if (way != this) return way->embed(texts, out, options);
  return embed_rows(texts.size(), out, options,
                    [&](std::size_t first, std::size_t count, const TokenLimits& limits, TokenTable& table) {
                      return parts_->pipeline.tokenize(texts.subspan(first, count), limits, first, options.limits,
                                                       table);
                    });
}

core::Result<EmbedStats> Embedder::embed_sparse(std::span<const std::string_view> texts, std::span<SparseVector> out,
                                                const EmbedOptions& options) const {
  LB_ASSIGN_OR_RETURN(const Embedder* way, way_of(options.texts.role));
  if (way != this) return way->embed_sparse(texts, out, options);
  LB_RETURN_IF_ERROR(VectorShape::of_sparse(parts_->pipeline.forward(), options.texts).status());
  if (out.size() < texts.size()) {
    return Status(StatusCode::kBufferTooSmall, fmt::format("{} texts have {} sparse vectors; there is room for {}",
                                                           texts.size(), texts.size(), out.size()));
  }
  return embed_windows(texts.size(), SparseRows{out}, options,
                       [&](std::size_t first, std::size_t count, const TokenLimits& limits, TokenTable& table) {
                         return parts_->pipeline.tokenize(texts.subspan(first, count), limits, first, options.limits,
                                                          table);
                       });
}

core::Result<EmbedStats> Embedder::embed_tokens(std::span<const std::string_view> texts, const TokenSink& sink,
                                                const EmbedOptions& options) const {
  const Forward& forward = parts_->pipeline.forward();
  if (!forward.keeps_tokens()) {
    return Status(StatusCode::kUnsupported, "the embedder gives the vectors of texts, not of tokens");
  }
  LB_RETURN_IF_ERROR(VectorShape::of_tokens(forward, options.texts).status());
  return embed_windows(texts.size(), TokenRows{sink}, options,
                       [&](std::size_t first, std::size_t count, const TokenLimits& limits, TokenTable& table) {
                         return parts_->pipeline.tokenize(texts.subspan(first, count), limits, first, options.limits,
                                                          table);
                       });
}

core::Result<EmbedStats> Embedder::embed_tokens(std::span<const std::string_view> texts, TokenVectors& out,
                                                const EmbedOptions& options) const {
  out.dimension = dimension();
  out.begins.reserve(out.begins.size() + texts.size());
  return embed_tokens(
      texts,
      [&out](std::size_t /*first*/, std::span<const std::uint32_t> counts, std::span<const float> vectors) {
        for (const std::uint32_t count : counts)
          out.begins.push_back(out.begins.back() + count);
        out.numbers.insert(out.numbers.end(), vectors.begin(), vectors.end());
      },
      options);
}

core::Result<EmbedStats> Embedder::embed_pairs(std::span<const TextPair> pairs, std::span<float> out,
                                               const EmbedOptions& options) const {
  return embed_rows(pairs.size(), out, options,
                    [&](std::size_t first, std::size_t count, const TokenLimits& limits, TokenTable& table) {
                      return parts_->pipeline.tokenize(pairs.subspan(first, count), limits, first, options.limits,
                                                       table);
                    });
}

core::Result<EmbedStats> Embedder::embed_ids(std::span<const Ids> texts, std::span<float> out,
                                             const EmbedOptions& options) const {
  LB_ASSIGN_OR_RETURN(const Embedder* way, way_of(options.texts.role));
  if (way != this) return way->embed_ids(texts, out, options);
  LB_RETURN_IF_ERROR(Pipeline::check_ids(options.texts));
  return embed_rows(texts.size(), out, options,
                    [&](std::size_t first, std::size_t count, const TokenLimits& limits, TokenTable& table) {
                      return parts_->pipeline.add_ids(texts.subspan(first, count), limits, first, table);
                    });
}

}  // namespace latebind::embedding
