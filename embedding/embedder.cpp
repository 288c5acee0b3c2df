#include "embedding/embedder.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <deque>
#include <exception>
#include <future>
#include <new>
#include <utility>

#include "embedding/build_model.h"
#include "embedding/embedder_parts.h"
#include "embedding/model_folder.h"

namespace latebind::embedding {
namespace {

using core::Status;
using core::StatusCode;

// Texts that are sorted and batched together; a longer input is done window by window, so that the ids in memory stay
// bounded and the next window is tokenised while the last one is being computed.
constexpr std::size_t kWindowTexts = 16384;

// Lengths up to the limit, and the limit itself, so that no text is too long.
void cut_lengths(std::vector<std::size_t>& lengths, std::size_t limit) {
  if (lengths.empty()) lengths = {32, 64, 128, 256, 512};
  std::erase_if(lengths, [&](std::size_t length) { return length >= limit; });
  lengths.push_back(limit);
}

// On a thread of its own, or when it is asked for where there is no thread to be had.
template <class Work>
auto in_background(Work work) -> std::future<decltype(work())> {
  try {
    return std::async(std::launch::async, work);
  } catch (const std::exception&) {  // no thread, or no memory for one
    return std::async(std::launch::deferred, work);
  }
}

Status embed_windows(Pipeline& pipeline, std::span<const std::string_view> texts, float* out, EmbedStats& stats) {
  std::deque<Pipeline::Job> jobs;  // at most two: one being computed, one to follow
  for (std::size_t first = 0; first < texts.size(); first += kWindowTexts) {
    const std::size_t count = std::min(kWindowTexts, texts.size() - first);
    Pipeline::Job& job = jobs.emplace_back(pipeline);
    LB_RETURN_IF_ERROR(pipeline.tokenize(texts.subspan(first, count), first, job.tokens));
    job.start(out + first * pipeline.dimension(), first, first + count < texts.size(), /*caller_helps=*/true);
    if (jobs.size() > 1) {
      LB_RETURN_IF_ERROR(jobs.front().finish(stats));
      jobs.pop_front();
    }
    jobs.front().help();
  }
  for (Pipeline::Job& job : jobs) {
    job.help();
    LB_RETURN_IF_ERROR(job.finish(stats));
  }
  return {};
}

}  // namespace

double EmbedStats::padding_ratio() const {
  if (padded_tokens == 0) return 0;
  return static_cast<double>(padded_tokens - tokens) / static_cast<double>(padded_tokens);
}

EmbedStats& EmbedStats::operator+=(const EmbedStats& other) {
  texts += other.texts;
  tokens += other.tokens;
  padded_tokens += other.padded_tokens;
  truncated_texts += other.truncated_texts;
  fallback_texts += other.fallback_texts;
  seconds += other.seconds;
  return *this;
}

Embedder::Embedder(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}
Embedder::~Embedder() = default;

core::Result<std::unique_ptr<Embedder>> Embedder::open(const core::Engine& engine,
                                                       const std::filesystem::path& model_folder,
                                                       const core::Placement& placement,
                                                       const EmbedderOptions& options) {
  if (options.batch_tokens == 0) {
    return Status(StatusCode::kInvalidArgument, "a batch must have at least 1 token; 0 were asked for");
  }
  if (!options.load.compile.input_shapes.empty()) {
    return Status(StatusCode::kInvalidArgument,
                  "input_shapes are for models that are loaded as they are; texts are computed in shapes of the "
                  "embedder's own (embedding.shapes, embedding.buckets)");
  }
  LB_ASSIGN_OR_RETURN(const ModelFolder folder, ModelFolder::open(model_folder));
  TokenLimits limits;
  LB_ASSIGN_OR_RETURN(limits.max_tokens, folder.token_limit(options.max_tokens));
  // The tokenizer is read while the vendor compiles.
  std::future<core::Result<Tokenizer>> tokenizer_to_come = in_background([&folder] { return folder.open_tokenizer(); });
  OutputRule rule{.pooling = folder.pooling, .normalize = folder.normalize};
  auto place = [&]() -> core::Result<std::shared_ptr<core::PlacedModel>> {
    // Gone once it is loaded: from here on the vendor has what it needs of the weights.
    LB_ASSIGN_OR_RETURN(const GraphModel graph, build_model(folder, {}));
    rule.pooled = graph.pooled;
    rule.dimension = graph.dimension;
    rule.output = graph.output;
    core::LoadOptions load = options.load;
    load.buckets.inputs = graph.inputs;
    cut_lengths(load.buckets.lengths, limits.max_tokens);
    return engine.load(graph.model, placement, load);
  };
  auto placed_result = place();
  LB_ASSIGN_OR_RETURN(Tokenizer tokenizer, tokenizer_to_come.get());
  LB_ASSIGN_OR_RETURN(auto placed, std::move(placed_result));
  if (folder.network && tokenizer.vocabulary_size() > folder.network->vocabulary_size()) {
    limits.vocabulary_size = folder.network->vocabulary_size();
  }
  auto forward = Forward::bind(std::move(placed), rule);
  if (!forward.ok()) return forward.status().with_context(folder.name());
  return std::unique_ptr<Embedder>(
      new Embedder(std::make_unique<Parts>(std::move(tokenizer), *std::move(forward), limits, options.batch_tokens)));
}

std::size_t Embedder::dimension() const {
  return parts_->pipeline.dimension();
}
std::size_t Embedder::max_tokens() const {
  return parts_->pipeline.max_tokens();
}
std::shared_ptr<const core::Attestation> Embedder::attestation() const {
  return parts_->pipeline.forward().model().attestation();
}

std::size_t Embedder::hung_runs() const {
  return parts_->pipeline.forward().model().hung_runs();
}

core::Status Embedder::prepare() const {
  return parts_->pipeline.forward().prepare();
}

core::Result<EmbedStats> Embedder::embed(std::span<const std::string_view> texts, std::span<float> out) const {
  const auto begin = std::chrono::steady_clock::now();
  Pipeline& pipeline = parts_->pipeline;
  const std::size_t dimension = pipeline.dimension();
  if (out.size() / dimension < texts.size()) {
    return Status(StatusCode::kBufferTooSmall, fmt::format("{} texts need {} rows of {} floats; there is room for {}",
                                                           texts.size(), texts.size(), dimension, out.size()));
  }

  EmbedStats stats;
  try {
    LB_RETURN_IF_ERROR(embed_windows(pipeline, texts, out.data(), stats));
  } catch (const std::bad_alloc&) {
    return Status(StatusCode::kOutOfMemory, fmt::format("no memory left to embed {} texts", texts.size()));
  }
  stats.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return stats;
}

}  // namespace latebind::embedding
