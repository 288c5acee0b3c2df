#include "embedding/embed_stream.h"

#include <algorithm>
#include <chrono>
#include <deque>
#include <new>
#include <utility>
#include <vector>

#include "embedding/embedder_parts.h"

namespace latebind::embedding {
namespace {

using Clock = std::chrono::steady_clock;

// Windows that are computed or wait for it. With two, the workers go on with the second when the first one's last
// batches are under way; the third is the one being filled.
constexpr std::size_t kWindowsInFlight = 2;

// More texts in a window are padded less, but wait longer for each other and take more memory: beyond some dozens of
// batches there is next to nothing to gain.
constexpr std::size_t kWindowTextsLeast = 2048;
constexpr std::size_t kWindowTextsMost = 16384;

std::size_t window_texts_of(const EmbedStreamOptions& options, const Pipeline& pipeline) {
  if (options.window_texts > 0) return options.window_texts;
  return std::clamp(pipeline.batch_tokens(), kWindowTextsLeast, kWindowTextsMost);
}

core::Status no_memory() {
  return core::Status(core::StatusCode::kOutOfMemory, "no memory left for a window of texts; take smaller windows");
}

}  // namespace

struct EmbedStream::Parts {
  Parts(Pipeline& p, VectorSink s, EmbedStreamOptions o)
      : pipeline(p), sink(std::move(s)), window_texts(window_texts_of(o, p)), window_bytes(o.window_bytes) {}

  struct Window {
    explicit Window(Pipeline& pipeline) : job(pipeline) {}

    std::vector<std::string> texts;
    std::size_t bytes = 0;
    std::vector<float> vectors;
    Pipeline::Job job;  // last: while it is being computed, it uses the above
  };

  Pipeline& pipeline;
  VectorSink sink;
  std::size_t window_texts;
  std::size_t window_bytes;

  EmbedStats stats;
  core::Status error;
  std::uint64_t pushed = 0;
  Clock::time_point begin{};

  std::unique_ptr<Window> filling;
  std::deque<std::unique_ptr<Window>> in_flight;  // oldest first
  std::vector<std::unique_ptr<Window>> spare;     // emptied, their memory kept

  core::Status push(std::string text) {
    if (pushed == 0) begin = Clock::now();
    if (!filling) {
      if (spare.empty()) spare.push_back(std::make_unique<Window>(pipeline));
      filling = std::move(spare.back());
      spare.pop_back();
    }
    LB_RETURN_IF_ERROR(pipeline.tokenize(text, pushed, filling->job.tokens));
    ++pushed;
    filling->bytes += text.size();
    filling->texts.push_back(std::move(text));
    if (filling->texts.size() < window_texts && filling->bytes < window_bytes) return {};
    return submit(/*more_follows=*/true);
  }

  core::Status submit(bool more_follows) {
    Window& window = *filling;
    window.vectors.resize(window.texts.size() * pipeline.dimension());
    window.job.start(window.vectors.data(), pushed - window.texts.size(), more_follows, /*caller_helps=*/false);
    in_flight.push_back(std::move(filling));
    while (in_flight.size() > kWindowsInFlight || (!in_flight.empty() && in_flight.front()->job.is_done())) {
      LB_RETURN_IF_ERROR(deliver());
    }
    return {};
  }

  core::Status deliver() {
    std::unique_ptr<Window> window = std::move(in_flight.front());
    in_flight.pop_front();
    LB_RETURN_IF_ERROR(window->job.finish(stats));
    stats.seconds = std::chrono::duration<double>(Clock::now() - begin).count();
    LB_RETURN_IF_ERROR(sink(window->texts, window->vectors));
    window->texts.clear();
    window->bytes = 0;
    window->job.tokens.clear();
    spare.push_back(std::move(window));
    return {};
  }

  core::Status finish() {
    if (filling && !filling->texts.empty()) LB_RETURN_IF_ERROR(submit(/*more_follows=*/false));
    while (!in_flight.empty()) {
      LB_RETURN_IF_ERROR(deliver());
    }
    return {};
  }

  void drop_all() {
    // The newest first: nothing of it has begun while the older ones are being computed.
    while (!in_flight.empty()) {
      in_flight.pop_back();
    }
    filling.reset();
    spare.clear();
  }

  core::Status keep(core::Status status) {
    if (status.ok()) return status;
    error = status;
    drop_all();
    return status;
  }
};

EmbedStream::EmbedStream(const Embedder& embedder, VectorSink sink, EmbedStreamOptions options)
    : EmbedStream(embedder.parts_->pipeline, std::move(sink), options) {}

EmbedStream::EmbedStream(Pipeline& pipeline, VectorSink sink, EmbedStreamOptions options)
    : parts_(std::make_unique<Parts>(pipeline, std::move(sink), options)) {}

EmbedStream::~EmbedStream() {
  parts_->drop_all();
}

core::Status EmbedStream::push(std::string text) {
  if (!parts_->error.ok()) return parts_->error;
  try {
    return parts_->keep(parts_->push(std::move(text)));
  } catch (const std::bad_alloc&) {
    return parts_->keep(no_memory());
  }
}

core::Status EmbedStream::finish() {
  if (!parts_->error.ok()) return parts_->error;
  try {
    return parts_->keep(parts_->finish());
  } catch (const std::bad_alloc&) {
    return parts_->keep(no_memory());
  }
}

const EmbedStats& EmbedStream::stats() const {
  return parts_->stats;
}

}  // namespace latebind::embedding
