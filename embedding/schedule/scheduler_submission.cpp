// Submission: what its owner asks of texts that were handed in, and gets back.
#include <utility>

#include "embedding/schedule/scheduler.h"
#include "embedding/schedule/scheduler_parts.h"

namespace latebind::embedding {

using core::Status;

Scheduler::Submission& Scheduler::Submission::operator=(Submission&& other) noexcept {
  drop();
  scheduler_ = other.scheduler_;
  work_ = std::move(other.work_);
  return *this;
}

Scheduler::Submission::~Submission() {
  drop();
}

void Scheduler::Submission::drop() noexcept {
  if (work_ != nullptr) scheduler_->abandon(*work_);
  work_ = nullptr;
}

bool Scheduler::Submission::is_over() const {
  const core::MutexLock lock(scheduler_->mutex_);
  return work_->is_over();
}

Status Scheduler::Submission::help(const core::RunOptions& limits) {
  return scheduler_->wait(work_, limits, /*until_begun=*/true);
}

Status Scheduler::Submission::wait(const core::RunOptions& limits) {
  LB_RETURN_IF_ERROR(scheduler_->wait(work_, limits, /*until_begun=*/false));
  return work_->error;
}

std::span<const float> Scheduler::Submission::vectors(std::size_t part) const {
  return work_->parts[part].memory;
}

std::span<const std::uint32_t> Scheduler::Submission::token_counts() const {
  return work_->tokens.lengths();
}

std::span<const std::uint32_t> Scheduler::Submission::vector_counts() const {
  return work_->tokens.vector_counts();
}

EmbedStats Scheduler::Submission::stats() const {
  return {.texts = work_->tokens.size(),
          .tokens = work_->plan.tokens,
          .padded_tokens = work_->padded_tokens,
          .truncated_texts = work_->tokens.truncated(),
          .fallback_texts = work_->fallback_texts};
}

std::shared_ptr<const core::Attestation> Scheduler::Submission::answered_by() const {
  return work_->answered_by;
}

Scheduler::Times Scheduler::Submission::times() const {
  return {work_->submitted, work_->begun, work_->over};
}

TokenTable Scheduler::Submission::take_tokens() {
  return std::move(work_->tokens);
}

std::vector<float> Scheduler::Submission::take_vectors(std::size_t part) {
  return std::move(work_->parts[part].memory);
}

std::vector<SparseVector> Scheduler::Submission::take_sparse(std::size_t part) {
  return std::move(work_->parts[part].sparse);
}

}  // namespace latebind::embedding
