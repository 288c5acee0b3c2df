#include "embedding/pipeline.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "embedding/pooling.h"

namespace latebind::embedding {
namespace {

// Above this many bytes of text, sharing the work among threads costs less than it saves (about a millisecond's worth).
constexpr std::size_t kParallelTextBytes = std::size_t{32} << 10;

// Tokenises texts in chunks, each into a table of its own.
class TokenizeWork final : public WorkTeam::Work {
 public:
  TokenizeWork(const Pipeline& pipeline, std::span<const std::string_view> texts, std::uint64_t first_position,
               std::size_t chunks)
      : pipeline_(pipeline), texts_(texts), first_position_(first_position), tables_(chunks), errors_(chunks) {}

  void run_piece(std::size_t piece) noexcept override {
    const std::size_t begin = texts_.size() * piece / tables_.size();
    const std::size_t end = texts_.size() * (piece + 1) / tables_.size();
    try {
      for (std::size_t i = begin; i < end && errors_[piece].ok(); ++i) {
        errors_[piece] = pipeline_.tokenize(texts_[i], first_position_ + i, tables_[piece]);
      }
    } catch (...) {
      errors_[piece] = core::Status::of_exception().with_context("tokenizing the texts");
    }
  }

  // The error of the first text that has one.
  core::Status append_to(TokenTable& table) const {
    for (const core::Status& error : errors_)
      LB_RETURN_IF_ERROR(error);
    for (const TokenTable& part : tables_)
      table.append(part);
    return {};
  }

 private:
  const Pipeline& pipeline_;
  std::span<const std::string_view> texts_;
  const std::uint64_t first_position_;
  std::vector<TokenTable> tables_;
  std::vector<core::Status> errors_;
};

// No device is blamed and none is asked again: it is as good as certain to compute the same.
core::Status no_vector(std::uint64_t position, std::string_view what, const core::ActiveConfig& active) {
  const std::string_view remedy = active.precision == core::Precision::kF32
                                      ? "the model's weights may be damaged, or another device computes it right"
                                      : "f32 has the range that it may need";
  return core::Status(core::StatusCode::kInternal,
                      fmt::format("texts[{}]: {}:{} gave a vector {}, in {}; {}", position, active.backend,
                                  active.device, what, core::word_of(active.precision), remedy));
}

core::Status not_finite(std::uint64_t position, const core::ActiveConfig& active) {
  return no_vector(position, "with numbers that are not finite", active);
}

core::Status without_length(std::uint64_t position, const core::ActiveConfig& active) {
  return no_vector(position, "of zeros, where its length is to be 1", active);
}

std::size_t requests_of(const core::PlacedModel& model) {
  return std::max<std::size_t>(1, model.attestation()->active.requests);
}

}  // namespace

class Pipeline::ScratchLease {
 public:
  explicit ScratchLease(Pipeline& pipeline) : pipeline_(pipeline) {
    const std::lock_guard lock(pipeline_.scratch_mutex_);
    if (!pipeline_.idle_scratch_.empty()) {
      scratch_ = std::move(pipeline_.idle_scratch_.back());
      pipeline_.idle_scratch_.pop_back();
    } else {
      scratch_ = std::make_unique<Forward::Scratch>();
    }
  }
  ScratchLease(const ScratchLease&) = delete;
  ScratchLease& operator=(const ScratchLease&) = delete;
  ~ScratchLease() {
    const std::lock_guard lock(pipeline_.scratch_mutex_);
    auto& idle = pipeline_.idle_scratch_;
    if (idle.size() < idle.capacity()) idle.push_back(std::move(scratch_));
  }
  Forward::Scratch& operator*() { return *scratch_; }

 private:
  Pipeline& pipeline_;
  std::unique_ptr<Forward::Scratch> scratch_;
};

Pipeline::Pipeline(Tokenizer tokenizer, Forward forward, TokenLimits limits, std::size_t batch_tokens)
    : tokenizer_(std::move(tokenizer)),
      forward_(std::move(forward)),
      limits_(limits),
      batch_tokens_(batch_tokens),
      requests_(requests_of(forward_.model())),
      team_(requests_) {
  idle_scratch_.reserve(requests_ + 1);
}

core::Status Pipeline::tokenize(std::string_view text, std::uint64_t position, TokenTable& table) const {
  core::Status status = table.add(tokenizer_, limits_, text);
  if (status.ok()) return status;
  return status.with_context(fmt::format("texts[{}]", position));
}

core::Status Pipeline::tokenize(std::span<const std::string_view> texts, std::uint64_t first_position,
                                TokenTable& table) {
  std::size_t bytes = 0;
  for (const std::string_view text : texts)
    bytes += text.size();
  if (requests_ == 1 || texts.size() < 2 * requests_ || bytes < kParallelTextBytes) {
    for (std::size_t i = 0; i < texts.size(); ++i) {
      LB_RETURN_IF_ERROR(tokenize(texts[i], first_position + i, table));
    }
    return {};
  }
  TokenizeWork work(*this, texts, first_position, std::min(texts.size(), 4 * requests_));
  team_.submit(work, std::min(texts.size(), 4 * requests_), requests_ - 1);
  team_.help(work);
  team_.finish(work);
  return work.append_to(table);
}

Pipeline::Job::~Job() {
  if (started_) pipeline_.team_.abandon(*this);
}

void Pipeline::Job::start(float* out, std::uint64_t first_position, bool more_follows, bool caller_helps) {
  out_ = out;
  first_position_ = first_position;
  failed_ = false;
  fallback_texts_ = 0;
  error_ = {};
  const auto attested = pipeline_.forward_.model().attestation();
  plan_ = plan_batches(tokens.lengths(), {.tokens = pipeline_.batch_tokens_,
                                          .workers = pipeline_.requests_,
                                          .more_follows = more_follows,
                                          .longest = pipeline_.limits_.max_tokens,
                                          .fixed_lengths = attested->active.fixed_lengths,
                                          .fixed_rows = attested->active.fixed_rows});
  // A text without a token (a tokenizer without special tokens makes them) has nothing to pool.
  for (auto row = plan_.order.rbegin(); row != plan_.order.rend() && tokens.lengths()[*row] == 0; ++row) {
    std::fill_n(out_ + *row * pipeline_.dimension(), pipeline_.dimension(), 0.0F);
  }
  const std::size_t batches = plan_.batches.size();
  const std::size_t workers = std::min(pipeline_.requests_, batches);
  started_ = true;
  pipeline_.team_.submit(*this, batches, caller_helps && workers > 0 ? workers - 1 : workers);
}

core::Status Pipeline::Job::finish(EmbedStats& stats) {
  pipeline_.team_.finish(*this);
  started_ = false;
  if (failed_) return error_;
  stats.texts += tokens.size();
  stats.tokens += plan_.tokens;
  stats.padded_tokens += plan_.padded_tokens;
  stats.truncated_texts += tokens.truncated();
  stats.fallback_texts += fallback_texts_;
  return {};
}

void Pipeline::Job::run_piece(std::size_t piece) noexcept {
  if (failed_) return;
  core::Status status;
  try {
    status = run_batch(plan_.batches[piece]);
  } catch (...) {
    status =
        core::Status::of_exception().with_context("computing a batch, which takes less memory with fewer batch tokens");
  }
  if (status.ok()) return;
  const std::lock_guard lock(mutex_);
  if (error_.ok()) error_ = std::move(status);
  failed_ = true;
}

core::Status Pipeline::Job::run_batch(const Batch& batch) {
  const auto rows = std::span(plan_.order).subspan(batch.first, batch.count);
  ScratchLease scratch(pipeline_);
  std::shared_ptr<const core::Attestation> answered_by;
  core::Status status = pipeline_.forward_.run(tokens, rows, batch.width, *scratch, out_, &answered_by);
  if (status.ok()) {
    const std::size_t dimension = pipeline_.dimension();
    for (const std::uint32_t row : rows) {
      const std::span<const float> vector(out_ + row * dimension, dimension);
      if (!is_finite(vector)) return not_finite(first_position_ + row, answered_by->active);
      // A length beyond the range of its precision divides all numbers away.
      if (pipeline_.forward_.normalizes() && is_zero(vector)) {
        return without_length(first_position_ + row, answered_by->active);
      }
    }
    if (answered_by->fallback) fallback_texts_ += rows.size();
    return status;
  }
  return status.with_context(fmt::format("texts[{}], in a batch of {} texts of up to {} tokens",
                                         first_position_ + rows.front(), batch.count, batch.width));
}

}  // namespace latebind::embedding
