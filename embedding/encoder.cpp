#include "embedding/encoder.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <deque>
#include <new>
#include <tuple>
#include <utility>

#include "core/platform/files/folders.h"
#include "core/text/quote.h"
#include "core/threads/in_background.h"
#include "embedding/folder/specification.h"
#include "embedding/outputs/vector_shape.h"
#include "embedding/pipeline.h"
#include "embedding/place_network.h"

namespace latebind::embedding {
namespace {

using core::Status;
using core::StatusCode;

// The number of texts that are sorted and batched together. A longer input is processed in windows, so that the ids in
// memory stay bounded and the next window is tokenized while the last one is computed.
constexpr std::size_t kWindowTexts = 16384;
// The same limit for outputs with a vector for each token.
constexpr std::size_t kTokenWindowTexts = 256;

// The default number of tokens of a batch. Larger batches make a CPU no faster, take more memory and delay the next
// caller. Devices with more arithmetic units need larger batches to keep them busy.
constexpr std::size_t kBatchTokensOfCpu = 1024;
constexpr std::size_t kBatchTokensOfOthers = 2048;

// A sparse encoder computes, for every token of a batch, a number for each entry of the vocabulary, and the device
// keeps one for each text. This many numbers take 64 MiB; larger batches are no faster.
constexpr std::size_t kTermLogitsMost = std::size_t{1} << 24;

// Merges the attestations of a call: that of a fallback wins, whichever device computed the rest.
void take_answer(std::shared_ptr<const core::Attestation> one, std::shared_ptr<const core::Attestation>& all) {
  if (one != nullptr && (one->fallback || !all->fallback)) all = std::move(one);
}

// Places what computes the texts: the network on a device, or the table. Chooses `batch_tokens` if it is 0, and limits
// it to the available room.
core::Result<Forward> place(const core::Engine& engine, const Specification& model, const core::Placement& placement,
                            const EncoderOptions& options, std::size_t max_tokens, std::size_t& batch_tokens) {
  if (model.network.term_table != nullptr) {
    if (batch_tokens == 0) batch_tokens = kBatchTokensOfCpu;
    return Forward::of_table(model.network.term_table, model.outputs.front());
  }
  LB_ASSIGN_OR_RETURN(PlacedNetwork placed, place_network(engine, model, placement, options.load, max_tokens,
                                                          {.outputs = options.outputs, .pools_here = true}));
  if (batch_tokens == 0) {
    batch_tokens = placed.model->device_kind() == core::DeviceKind::kCpu ? kBatchTokensOfCpu : kBatchTokensOfOthers;
  }
  for (const BoundOutput& bound : placed.outputs) {
    if (bound.form() != ResultForm::kSparseRow || bound.output->end(true).hidden_states) continue;
    batch_tokens = std::min(batch_tokens, std::max<std::size_t>(1, kTermLogitsMost / bound.dimension()));
  }
  auto forward = Forward::bind(std::move(placed.model), std::move(placed.outputs), placed.may_be_unattended);
  if (!forward.ok()) return forward.status().with_context(model.name());
  return forward;
}

}  // namespace

struct Encoder::Parts {
  template <class... Arguments>
  Parts(std::string model, const Input& taken, Arguments&&... arguments)
      : name(std::move(model)), input(taken), pipeline(std::forward<Arguments>(arguments)...) {}

  const std::string name;
  const Input& input;
  Pipeline pipeline;
};

Encoder::Encoder(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}
Encoder::Encoder(Encoder&&) noexcept = default;
Encoder& Encoder::operator=(Encoder&&) noexcept = default;
Encoder::~Encoder() = default;

core::Result<Encoder> Encoder::open(const core::Engine& engine, const Specification& model,
                                    const core::Placement& placement, const EncoderOptions& options) {
  LB_RETURN_IF_ERROR(model.find_outputs(options.outputs).status());
  LB_ASSIGN_OR_RETURN(TextLimits limits, text_limits(model, options.max_tokens));
  // The tokenizer is read in the background while the vendor compiles.
  core::InBackground<core::Result<Tokenizer>> tokenizer_to_come =
      core::in_background([&model] { return model.open_tokenizer(); });
  std::size_t batch_tokens = options.batch_tokens;
  auto forward = place(engine, model, placement, options, limits.longest(), batch_tokens);
  LB_ASSIGN_OR_RETURN(Tokenizer tokenizer, tokenizer_to_come.get());
  LB_RETURN_IF_ERROR(set_roles(model, tokenizer, limits));
  LB_RETURN_IF_ERROR(forward.status());
  forward->take_tokenizer(tokenizer);
  const auto& [network, table] = std::tie(model.network.network, model.network.term_table);
  if (network && tokenizer.vocabulary_size() > network->vocabulary_size()) {
    limits.document.vocabulary_size = network->vocabulary_size();
    if (limits.query) limits.query->vocabulary_size = limits.document.vocabulary_size;
  }
  if (table != nullptr && tokenizer.vocabulary_size() > table->size()) {
    return Status(StatusCode::kInvalidModel,
                  fmt::format("{}: 'weight' has {} numbers, but the tokenizer beside it has {} entries",
                              platform::path_to_utf8(*model.network.term_table_file), table->size(),
                              tokenizer.vocabulary_size()));
  }
  return Encoder(std::make_unique<Parts>(model.name(), *model.input.kind, std::move(tokenizer), *std::move(forward),
                                         std::move(limits), batch_tokens, options.on_batch, model.input.prompts));
}

Pipeline& Encoder::pipeline() const {
  return parts_->pipeline;
}
const std::string& Encoder::name() const {
  return parts_->name;
}
const Input& Encoder::input() const {
  return parts_->input;
}
std::span<const BoundOutput> Encoder::outputs() const {
  return pipeline().forward().outputs();
}
core::Result<std::vector<std::size_t>> Encoder::find_outputs(std::span<const std::string> names) const {
  std::vector<std::size_t> positions;
  for (std::size_t i = 0; names.empty() && i < outputs().size(); ++i)
    positions.push_back(i);
  for (const std::string& wanted : names) {
    const auto found =
        std::ranges::find(outputs(), wanted, [](const BoundOutput& bound) { return bound.output->kind().name; });
    if (found == outputs().end()) {
      return Status(StatusCode::kUnsupported,
                    fmt::format("{} was opened without the output {}", name(), core::quoted(wanted)));
    }
    positions.push_back(static_cast<std::size_t>(found - outputs().begin()));
  }
  return positions;
}

std::size_t Encoder::dimension() const {
  return outputs().front().dimension();
}
std::size_t Encoder::max_tokens(TextRole role) const {
  return pipeline().limits(role).max_tokens;
}
std::size_t Encoder::batch_tokens() const {
  return pipeline().batch_tokens();
}
std::shared_ptr<const core::Attestation> Encoder::attestation() const {
  return pipeline().forward().attestation();
}
std::size_t Encoder::hung_runs() const {
  return pipeline().forward().hung_runs();
}
const Prompts& Encoder::prompts() const {
  return pipeline().prompts();
}
const TextLimits& Encoder::limits() const {
  return pipeline().text_limits();
}
std::shared_ptr<const Tokenizer> Encoder::tokenizer() const {
  return pipeline().tokenizer();
}
QueueState Encoder::queue_state() const {
  return pipeline().scheduler().queue_state();
}
Status Encoder::prepare() const {
  return pipeline().forward().prepare();
}

namespace {

// A sink of a call, and the shape of its results.
struct OpenSink {
  const OutputSink& sink;
  ResultForm form{};
  VectorShape shape;
  bool direct = false;  // the scheduler writes rows to their target

  static core::Result<OpenSink> of(const OutputSink& sink, const BoundOutput& bound, std::size_t count,
                                   const EmbedOptions& options) {
    LB_ASSIGN_OR_RETURN(const VectorShape shape, VectorShape::of(bound, options.texts));
    const ResultForm form = bound.form();
    if (form == ResultForm::kRow && sink.rows.size() / shape.dimensions() < count) {
      return Status(StatusCode::kBufferTooSmall, fmt::format("{} texts need {} rows of {} floats; there is room for {}",
                                                             count, count, shape.dimensions(), sink.rows.size()));
    }
    if (form == ResultForm::kSparseRow && sink.sparse.size() < count) {
      return Status(StatusCode::kBufferTooSmall, fmt::format("{} texts have {} sparse vectors; there is room for {}",
                                                             count, count, sink.sparse.size()));
    }
    // Rows are written directly only if the caller cannot leave earlier and the rows need no change.
    const bool direct = form == ResultForm::kRow && !options.limits.is_bounded() && shape.is_as_computed();
    return OpenSink{.sink = sink, .form = form, .shape = shape, .direct = direct};
  }

  [[nodiscard]] Scheduler::Wanted wanted(std::size_t first) const {
    return {.output = sink.output, .out = direct ? sink.rows.data() + first * shape.dimensions() : nullptr};
  }
  // Takes the results of part `part` of a finished window.
  void take(Scheduler::Submission& done, std::size_t part, std::size_t first) const {
    if (form == ResultForm::kSparseRow) {
      std::ranges::move(done.take_sparse(part), sink.sparse.subspan(first).begin());
    } else if (form == ResultForm::kRaggedRows) {
      (*sink.ragged)(first, done.vector_counts(part), done.vectors(part));
    } else if (!direct) {
      shape.write(done.vectors(part), sink.rows.subspan(first * shape.dimensions()));
    }
  }
};

std::size_t size_of(const InputList& list) {
  return std::visit([](const auto& items) { return items.size(); }, list);
}

Status no_memory(const InputList& list) {
  return {StatusCode::kOutOfMemory, fmt::format("no memory left to embed {} texts", size_of(list))};
}

InputList part_of(const InputList& list, std::size_t first, std::size_t count) {
  return std::visit([&](const auto& items) -> InputList { return items.subspan(first, count); }, list);
}

}  // namespace

core::Result<EmbedStats> Encoder::encode(const InputList& inputs, std::span<const OutputSink> sinks,
                                         const EmbedOptions& options) const try {
  const auto begin = std::chrono::steady_clock::now();
  Pipeline& pipeline = this->pipeline();
  const std::size_t count = size_of(inputs);
  std::vector<OpenSink> open;
  std::size_t window_texts = kWindowTexts;
  for (const OutputSink& sink : sinks) {
    LB_ASSIGN_OR_RETURN(const OpenSink one, OpenSink::of(sink, outputs()[sink.output], count, options));
    open.push_back(one);
    if (one.form == ResultForm::kRaggedRows) window_texts = kTokenWindowTexts;
  }
  LB_ASSIGN_OR_RETURN(const TokenLimits limits, pipeline.limits_of(options.texts, inputs));
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
  std::deque<Window> windows;  // at most two: one is computed, one follows
  const auto finish_first = [&]() -> Status {
    Window window = std::move(windows.front());
    windows.pop_front();
    Scheduler::Submission& done = window.submission;
    LB_RETURN_IF_ERROR(done.wait(options.limits));
    for (std::size_t part = 0; part < open.size(); ++part)
      open[part].take(done, part, window.first);
    const auto counts = done.token_counts();
    if (!options.token_counts.empty()) std::ranges::copy(counts, options.token_counts.subspan(window.first).begin());
    if (options.answered_by != nullptr) take_answer(done.answered_by(), *options.answered_by);
    stats += done.stats();
    return {};
  };
  for (std::size_t first = 0; first < count; first += window_texts) {
    const std::size_t texts = std::min(window_texts, count - first);
    Scheduler::Texts window{.tokens = {},
                            .first_position = first,
                            .more_follows = first + texts < count,
                            .alone = options.alone,
                            .caller_helps = true,
                            .limits = options.limits};
    for (const OpenSink& sink : open)
      window.wanted.push_back(sink.wanted(first));
    if (options.limits.is_bounded()) LB_RETURN_IF_ERROR(core::check_time(options.limits));
    LB_RETURN_IF_ERROR(pipeline.tokenize(part_of(inputs, first, texts), limits, first, options.limits, window.tokens));
    LB_ASSIGN_OR_RETURN(auto submission, pipeline.scheduler().submit(owner, std::move(window)));
    windows.push_back({first, std::move(submission)});
    if (windows.size() > 1) LB_RETURN_IF_ERROR(finish_first());
    LB_RETURN_IF_ERROR(windows.front().submission.help(options.limits));
  }
  while (!windows.empty())
    LB_RETURN_IF_ERROR(finish_first());
  stats.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return stats;
} catch (const std::bad_alloc&) {
  return no_memory(inputs);
}

core::Result<Results> Encoder::encode(const InputList& inputs, std::span<const std::string> wanted,
                                      const EmbedOptions& options) const try {
  const std::size_t count = size_of(inputs);
  LB_ASSIGN_OR_RETURN(const std::vector<std::size_t> positions, find_outputs(wanted));
  Results results;
  results.outputs.resize(positions.size());
  std::vector<OutputSink> sinks(positions.size());
  std::vector<TokenSink> ragged(positions.size());
  for (std::size_t i = 0; i < positions.size(); ++i) {
    const BoundOutput& bound = outputs()[positions[i]];
    OutputSink& sink = sinks[i];
    sink.output = positions[i];
    if (bound.form() == ResultForm::kSparseRow) {
      sink.sparse = results.outputs[i].emplace<SparseRows>(SparseRows{std::vector<SparseVector>(count)}).vectors;
    } else if (bound.form() == ResultForm::kRaggedRows) {
      auto& rows = results.outputs[i].emplace<RaggedRows>(RaggedRows{.dimension = bound.dimension()});
      ragged[i] = collect_into(rows);
      sink.ragged = &ragged[i];
    } else {
      LB_ASSIGN_OR_RETURN(const VectorShape shape, VectorShape::of(bound, options.texts));
      auto& rows = results.outputs[i].emplace<Rows>(Rows{.dimension = shape.dimensions()});
      rows.numbers.resize(count * shape.dimensions());
      sink.rows = rows.numbers;
    }
  }
  LB_ASSIGN_OR_RETURN(results.stats, encode(inputs, sinks, options));
  return results;
} catch (const std::bad_alloc&) {
  return no_memory(inputs);
}

TokenSink collect_into(RaggedRows& rows) {
  return [&rows](std::size_t /*first*/, std::span<const std::uint32_t> counts, std::span<const float> vectors) {
    for (const std::uint32_t count : counts)
      rows.begins.push_back(rows.begins.back() + count);
    rows.numbers.insert(rows.numbers.end(), vectors.begin(), vectors.end());
  };
}

}  // namespace latebind::embedding
