#include "embedding/embed_stream.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <deque>
#include <new>
#include <utility>
#include <vector>

#include "core/threads/mutex.h"
#include "embedding/outputs/vector_shape.h"
#include "embedding/pipeline.h"

namespace latebind::embedding {

using core::Status;
using core::StatusCode;

namespace {

using Clock = std::chrono::steady_clock;

// The most windows that are computed, or wait to be computed or pulled. With two, the workers continue with the second
// while the last batches of the first are in progress; a third may be complete before the first is pulled.
constexpr std::size_t kWindowsMax = 3;

// More texts in a window need less padding, but wait longer for each other and take more memory. Beyond some dozens of
// batches the gain is negligible.
constexpr std::size_t kWindowTextsLeast = 2048;
constexpr std::size_t kWindowTextsMost = 16384;
// The most token vectors in a window: 32 MiB for 128 numbers each.
constexpr std::size_t kWindowVectorsMost = std::size_t{1} << 16;

std::size_t window_texts_of(const EmbedStreamOptions& options, const Pipeline& pipeline) {
  if (options.window_texts > 0) return options.window_texts;
  return std::clamp(pipeline.batch_tokens(), kWindowTextsLeast, kWindowTextsMost);
}

Status no_memory() {
  return Status(StatusCode::kOutOfMemory, "no memory left for a window of texts; take smaller windows");
}

Status is_busy() {
  return Status(StatusCode::kBusy, "all windows of the stream are full: pull one first");
}

Status is_finished() {
  return Status(StatusCode::kInvalidArgument, "the stream is finished: it takes no more texts");
}

}  // namespace

struct EmbedStream::Parts {
  // An output of the stream.
  struct Wanted {
    std::size_t position = 0;  // among the outputs of the forward
    ResultForm form{};
    std::size_t computed = 0;  // the number of floats of a row as the output gives it
    VectorShape shape{};
  };

  Parts(Pipeline& p, TokenLimits token_limits, std::vector<Wanted> wanted_outputs, const EmbedStreamOptions& options)
      : pipeline(p),
        limits(std::move(token_limits)),
        outputs(std::move(wanted_outputs)),
        is_ragged(std::ranges::any_of(outputs, [](const Wanted& one) { return one.form == ResultForm::kRaggedRows; })),
        window_texts(window_texts_of(options, p)),
        window_bytes(options.window_bytes),
        alone(options.alone) {}

  // A window, whose memory is reused.
  struct Window {
    std::uint64_t first = 0;
    std::size_t bytes = 0;
    TokenTable tokens;
    struct Part {
      std::vector<float> computed;
      std::vector<float> vectors;  // filled if the stream changes the computed rows
      std::vector<SparseVector> sparse;
    };
    std::vector<Part> parts;             // one for each output
    std::vector<ResultWindow> results;   // the views that callers receive
    Scheduler::Submission submission{};  // declared last, because it uses the members above
  };

  Pipeline& pipeline;
  const TokenLimits limits;
  const std::vector<Wanted> outputs;
  const bool is_ragged;  // an output has a vector for each token
  const std::size_t window_texts;
  const std::size_t window_bytes;
  const bool alone;
  Scheduler::Owner owner;

  // Used by the pushing thread; the pulling thread reads `pushed` after finish().
  std::unique_ptr<Window> filling;
  std::uint64_t pushed = 0;

  mutable core::Mutex mutex;
  core::Condition changed;
  Clock::time_point begin LB_GUARDED_BY(mutex){};
  // Oldest first; the first one is used by the pulling thread.
  std::deque<std::unique_ptr<Window>> in_flight LB_GUARDED_BY(mutex);
  std::vector<std::unique_ptr<Window>> spare LB_GUARDED_BY(mutex);  // at most kWindowsMax
  bool finished LB_GUARDED_BY(mutex) = false;
  Status error LB_GUARDED_BY(mutex);
  EmbedStats stats LB_GUARDED_BY(mutex);

  std::unique_ptr<Window> pulled;  // used by the pulling thread only

  [[nodiscard]] Status error_now() const {
    const core::MutexLock lock(mutex);
    return error;
  }

  // Returns why no text is accepted now, or ok.
  [[nodiscard]] Status check_room() const {
    const core::MutexLock lock(mutex);
    if (!error.ok()) return error;
    if (finished) return is_finished();
    return in_flight.size() < kWindowsMax ? Status() : is_busy();
  }

  // Keeps the first error, which all later calls return.
  Status keep(Status status) {
    if (status.ok()) return status;
    {
      const core::MutexLock lock(mutex);
      if (error.ok()) error = status;
    }
    changed.notify_all();
    return status;
  }

  std::unique_ptr<Window> take_spare() {
    {
      const core::MutexLock lock(mutex);
      if (pushed == 0) begin = Clock::now();
      if (!spare.empty()) {
        auto window = std::move(spare.back());
        spare.pop_back();
        return window;
      }
    }
    return std::make_unique<Window>();
  }

  Status add(std::string_view text) {
    if (!filling) filling = take_spare();
    LB_RETURN_IF_ERROR(pipeline.tokenize(text, limits, pushed, filling->tokens));
    ++pushed;
    filling->bytes += text.size();
    const bool has_room = !is_ragged || filling->tokens.vector_count() < kWindowVectorsMost;
    if (filling->tokens.size() < window_texts && filling->bytes < window_bytes && has_room) return {};
    return submit(/*more_follows=*/true);
  }

  Status submit(bool more_follows) {
    Window& window = *filling;
    const std::size_t texts = window.tokens.size();
    window.first = pushed - texts;
    window.parts.resize(outputs.size());
    std::vector<Scheduler::Wanted> wanted;
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      Scheduler::Wanted& one = wanted.emplace_back(Scheduler::Wanted{.output = outputs[i].position});
      if (outputs[i].form == ResultForm::kSparseRow) continue;
      const std::size_t rows = outputs[i].form == ResultForm::kRaggedRows ? window.tokens.vector_count() : texts;
      window.parts[i].computed.resize(rows * outputs[i].computed);
      one.out = window.parts[i].computed.data();
    }
    Scheduler::Texts handed{.tokens = std::move(window.tokens),
                            .first_position = window.first,
                            .wanted = std::move(wanted),
                            .more_follows = more_follows,
                            .alone = alone};
    LB_ASSIGN_OR_RETURN(window.submission, pipeline.scheduler().submit(owner, std::move(handed)));
    {
      const core::MutexLock lock(mutex);
      in_flight.push_back(std::move(filling));
    }
    changed.notify_all();
    return {};
  }

  // Waits until `is_so`, which requires the mutex, holds or the limits end.
  template <class IsSo>
  Status wait(const core::RunOptions& limits_of_call, IsSo is_so) LB_REQUIRES(mutex) {
    while (!is_so()) {
      if (limits_of_call.is_bounded()) LB_RETURN_IF_ERROR(core::check_time(limits_of_call));
      if (limits_of_call.deadline) {
        changed.wait_until(mutex, *limits_of_call.deadline);
      } else {
        changed.wait(mutex);
      }
    }
    return {};
  }

  Status wait_for_room(const core::RunOptions& limits_of_call) {
    const auto cancelled = watch(limits_of_call);
    const core::MutexLock lock(mutex);
    LB_RETURN_IF_ERROR(
        wait(limits_of_call, [this]() LB_REQUIRES(mutex) { return in_flight.size() < kWindowsMax || !error.ok(); }));
    return error;
  }

  // Wakes a waiting call when it is cancelled.
  [[nodiscard]] core::Cancellation::Watch watch(const core::RunOptions& limits_of_call) {
    return {limits_of_call.cancellation, [this] {
              const core::MutexLock lock(mutex);
              changed.notify_all();
            }};
  }

  void recycle() {
    if (!pulled) return;
    pulled->tokens = pulled->submission.take_tokens();
    pulled->tokens.clear();
    pulled->submission = {};
    pulled->bytes = 0;
    const core::MutexLock lock(mutex);
    if (spare.size() < kWindowsMax) spare.push_back(std::move(pulled));
    pulled.reset();
  }

  core::Result<VectorWindow> pull(const core::RunOptions& limits_of_call) {
    Window* first = nullptr;
    {
      const auto cancelled = watch(limits_of_call);
      const core::MutexLock lock(mutex);
      LB_RETURN_IF_ERROR(
          wait(limits_of_call, [this]() LB_REQUIRES(mutex) { return !in_flight.empty() || finished || !error.ok(); }));
      if (!error.ok()) return error;
      if (in_flight.empty()) return VectorWindow{{}, pushed};
      first = in_flight.front().get();
    }
    if (const Status status = first->submission.wait(limits_of_call); !status.ok()) {
      if (!first->submission.is_over()) return status;
      LB_RETURN_IF_ERROR(keep(first->submission.wait()));  // it may have ended just after the call's deadline
    }
    shape_results(*first);
    recycle();
    {
      const core::MutexLock lock(mutex);
      pulled = std::move(in_flight.front());
      in_flight.pop_front();
      stats += pulled->submission.stats();
      stats.seconds = std::chrono::duration<double>(Clock::now() - begin).count();
    }
    changed.notify_all();
    VectorWindow window{pulled->results.front(), pulled->first};
    window.token_counts = pulled->submission.token_counts();
    window.outputs = pulled->results;
    window.answered_by = pulled->submission.answered_by();
    return window;
  }

  // Brings the results of a finished window into the shape of this stream.
  void shape_results(Window& window) const {
    window.results.assign(outputs.size(), ResultWindow());
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      Window::Part& part = window.parts[i];
      ResultWindow& result = window.results[i];
      if (outputs[i].form == ResultForm::kSparseRow) {
        part.sparse = window.submission.take_sparse(i);
        result.sparse = part.sparse;
        continue;
      }
      if (!outputs[i].shape.is_as_computed()) {
        part.vectors.resize(window.submission.token_counts().size() * outputs[i].shape.dimensions());
        outputs[i].shape.write(part.computed, part.vectors);
      }
      result.vectors = outputs[i].shape.is_as_computed() ? part.computed : part.vectors;
      if (outputs[i].form == ResultForm::kRaggedRows) result.vector_counts = window.submission.vector_counts();
    }
  }
};

EmbedStream::EmbedStream(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}

EmbedStream::~EmbedStream() {
  // Destroys the newest window first, so that it does not begin while older ones are computed.
  while (!parts_->in_flight.empty())
    parts_->in_flight.pop_back();
}

core::Result<std::unique_ptr<EmbedStream>> EmbedStream::open(const Embedder& embedder,
                                                             const EmbedStreamOptions& options) {
  LB_ASSIGN_OR_RETURN(const Encoder* const encoder, embedder.route_for(options.texts.role));
  return open(*encoder, options);
}

core::Result<std::unique_ptr<EmbedStream>> EmbedStream::open(const Encoder& encoder,
                                                             const EmbedStreamOptions& options) {
  LB_ASSIGN_OR_RETURN(const std::vector<std::size_t> outputs, encoder.find_outputs(options.outputs));
  return open(encoder.pipeline(), options, outputs);
}

core::Result<std::unique_ptr<EmbedStream>> EmbedStream::open(Pipeline& pipeline, const EmbedStreamOptions& options,
                                                             std::span<const std::size_t> outputs) {
  LB_ASSIGN_OR_RETURN(TokenLimits limits, pipeline.limits_of(options.texts));
  static constexpr std::array<std::size_t, 1> kFirst{0};
  std::vector<Parts::Wanted> wanted;
  for (const std::size_t position : outputs.empty() ? std::span<const std::size_t>(kFirst) : outputs) {
    const BoundOutput& bound = pipeline.forward().outputs()[position];
    LB_ASSIGN_OR_RETURN(const VectorShape shape, VectorShape::of(bound, options.texts));
    wanted.push_back({.position = position, .form = bound.form(), .computed = bound.computed(), .shape = shape});
  }
  return std::unique_ptr<EmbedStream>(
      new EmbedStream(std::make_unique<Parts>(pipeline, std::move(limits), std::move(wanted), options)));
}

std::size_t EmbedStream::dimensions(std::size_t output) const {
  return parts_->outputs[output].shape.dimensions();
}

Status EmbedStream::push(std::string_view text) {
  LB_RETURN_IF_ERROR(parts_->check_room());
  try {
    return parts_->keep(parts_->add(text));
  } catch (const std::bad_alloc&) {
    return parts_->keep(no_memory());
  }
}

bool EmbedStream::is_full() const {
  const core::MutexLock lock(parts_->mutex);
  return parts_->in_flight.size() >= kWindowsMax;
}

Status EmbedStream::wait_for_room(const core::RunOptions& limits) {
  return parts_->wait_for_room(limits);
}

Status EmbedStream::finish() {
  LB_RETURN_IF_ERROR(parts_->error_now());
  try {
    if (parts_->filling && parts_->filling->tokens.size() > 0) {
      LB_RETURN_IF_ERROR(parts_->keep(parts_->submit(/*more_follows=*/false)));
    }
  } catch (const std::bad_alloc&) {
    return parts_->keep(no_memory());
  }
  {
    const core::MutexLock lock(parts_->mutex);
    parts_->finished = true;
  }
  parts_->changed.notify_all();
  return {};
}

core::Result<VectorWindow> EmbedStream::pull(const core::RunOptions& limits) {
  try {
    return parts_->pull(limits);
  } catch (const std::bad_alloc&) {
    return parts_->keep(no_memory());
  }
}

bool EmbedStream::is_ready() const {
  const core::MutexLock lock(parts_->mutex);
  if (!parts_->error.ok()) return true;
  return parts_->in_flight.empty() ? parts_->finished : parts_->in_flight.front()->submission.is_over();
}

EmbedStats EmbedStream::stats() const {
  const core::MutexLock lock(parts_->mutex);
  return parts_->stats;
}

Status embed_all(EmbedStream& stream, const std::function<core::Result<std::optional<std::string_view>>()>& next,
                 const std::function<Status(const VectorWindow&)>& sink, const core::RunOptions& limits) {
  const auto deliver = [&]() -> core::Result<bool> {
    LB_ASSIGN_OR_RETURN(const VectorWindow window, stream.pull(limits));
    if (window.token_counts.empty()) return false;
    LB_RETURN_IF_ERROR(sink(window));
    return true;
  };
  while (true) {
    LB_ASSIGN_OR_RETURN(const std::optional<std::string_view> text, next());
    if (!text) break;
    LB_RETURN_IF_ERROR(stream.push(*text));
    while (stream.is_full() || stream.is_ready())
      LB_RETURN_IF_ERROR(deliver().status());
  }
  LB_RETURN_IF_ERROR(stream.finish());
  bool more = true;
  while (more) {
    LB_ASSIGN_OR_RETURN(more, deliver());
  }
  return {};
}

}  // namespace latebind::embedding
