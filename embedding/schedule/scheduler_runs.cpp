// Computes batches, and delivers their results or errors to the submissions.
#include <fmt/format.h>

#include <algorithm>
#include <new>
#include <utility>

#include "core/threads/mutex.h"
#include "embedding/outputs/pooling.h"
#include "embedding/schedule/scheduler_parts.h"

namespace latebind::embedding {

using core::Status;
using core::StatusCode;

namespace {

// The number of runs of the model on the call stack of this thread. A callback of the host (a line of the log) may
// interrupt a run and request vectors itself. It must not wait for a request that this thread holds.
thread_local unsigned runs_of_this_thread = 0;

// The error for an invalid result. The device is not marked as faulty and the run is not repeated, because it would
// almost certainly compute the same.
Status no_vector(std::uint64_t position, std::string_view what, const core::ActiveConfig& active) {
  const std::string_view remedy = active.precision == core::Precision::kF32
                                      ? "the model's weights may be damaged, or another device computes it right"
                                      : "f32 has the range that it may need";
  return Status(StatusCode::kInternal,
                fmt::format("texts[{}]: {}:{} gave a vector {}, in {}; {}", position, active.backend, active.device,
                            what, core::word_of(active.precision), remedy));
}

}  // namespace

class Scheduler::ScratchLease {
 public:
  explicit ScratchLease(Scheduler& scheduler) : scheduler_(scheduler) {
    const core::MutexLock lock(scheduler_.scratch_mutex_);
    if (!scheduler_.idle_scratch_.empty()) {
      scratch_ = std::move(scheduler_.idle_scratch_.back());
      scheduler_.idle_scratch_.pop_back();
    } else {
      scratch_ = std::make_unique<Forward::Scratch>();
    }
  }
  ScratchLease(const ScratchLease&) = delete;
  ScratchLease& operator=(const ScratchLease&) = delete;
  ~ScratchLease() {
    const core::MutexLock lock(scheduler_.scratch_mutex_);
    auto& idle = scheduler_.idle_scratch_;
    if (idle.size() < idle.capacity()) idle.push_back(std::move(scratch_));
  }
  Forward::Scratch& operator*() { return *scratch_; }
  Forward::Scratch* operator->() { return scratch_.get(); }

 private:
  Scheduler& scheduler_;
  std::unique_ptr<Forward::Scratch> scratch_;
};

bool Scheduler::is_within_run() noexcept {
  return runs_of_this_thread > 0;
}

bool Scheduler::leaves_padding_out(const Run& run) noexcept {
  if (run.answered_by == nullptr) return false;
  const core::ActiveConfig& active = run.answered_by->active;
  return active.leaves_padding_out || active.packs_tokens;
}

// Adds the place of a run to its error. Returns the error unchanged if memory runs out.
Status Scheduler::in_batch(Status error, std::uint64_t position, const Run& run) {
  try {
    return error.with_context(
        fmt::format("texts[{}], in a batch of {} texts of up to {} tokens", position, run.batch.rows, run.batch.width));
  } catch (const std::bad_alloc&) {
    return error;
  }
}

void Scheduler::finish(const Run& run, const Status& status) noexcept {
  std::erase(running_, &run);
  const FormedBatch& batch = run.batch;
  running_tokens_ -= batch.tokens;
  const bool is_fallback = run.answered_by != nullptr && run.answered_by->fallback;
  const std::size_t static_rows = batch.pieces.front().texts->shape.static_rows;
  for (std::size_t i = 0; i < batch.pieces.size(); ++i) {
    const BatchPiece& piece = batch.pieces[i];
    const std::shared_ptr<Work> shared = Work::of(piece.texts);
    Work& work = *shared;
    --work.running;
    Status error = status.ok() ? run.errors[i] : status;
    if (!error.ok()) {
      if (!status.ok()) error = in_batch(std::move(error), work.first_position + piece.rows.front(), run);
      if (work.error.ok()) work.error = std::move(error);
      queue_.leave(work);
    } else {
      work.padded_tokens += leaves_padding_out(run) ? tokens_of(piece) : piece.rows.size() * batch.width;
      // A static shape is computed completely, however few of its rows are used.
      if (static_rows > batch.rows && i == 0) {
        work.padded_tokens += (static_rows - batch.rows) * batch.width;
      }
      if (is_fallback) work.fallback_texts += piece.rows.size();
      if (work.answered_by == nullptr || is_fallback || !work.answered_by->fallback) work.answered_by = run.answered_by;
    }
    work.changed.notify_all();
    note_if_over(shared);
  }
}

Status Scheduler::execute(Run& run) {
  ScratchLease scratch(*this);
  auto& rows = scratch->rows;
  auto& targets = scratch->targets;
  const std::size_t outputs = forward_.outputs().size();
  rows.clear();
  targets.assign(run.batch.rows * outputs, RowTarget());
  for (const BatchPiece& piece : run.batch.pieces) {
    Work& work = Work::of(piece);
    const TokenTable& tokens = work.tokens;
    for (const std::uint32_t row : piece.rows) {
      const std::span<RowTarget> of_row = std::span(targets).subspan(rows.size() * outputs, outputs);
      for (Part& part : work.parts) {
        RowTarget& target = of_row[part.output];
        if (part.form == ResultForm::kSparseRow) {
          target.sparse = &part.sparse[row];
        } else {
          target.numbers = work.numbers_of(part, row).data();
        }
      }
      rows.push_back({.ids = tokens.ids(row),
                      .targets = of_row,
                      .type_one_from = tokens.type_one_from(row),
                      .pooled_from = tokens.pooled_from(row),
                      .unattended_from = tokens.unattended_from(row),
                      .kept = tokens.kept(row),
                      .task = tokens.task(row)});
    }
  }
  run.errors.reserve(run.batch.pieces.size());
  LB_RETURN_IF_ERROR(forward_.run(rows, run.batch.width, *scratch, run.limits, &run.answered_by));
  for (const BatchPiece& piece : run.batch.pieces)
    run.errors.push_back(check_results(piece, run));
  return {};
}

// Returns an error for the first invalid result.
Status Scheduler::check_results(const BatchPiece& piece, const Run& run) {
  Work& work = Work::of(piece);
  for (const std::uint32_t row : piece.rows) {
    for (Part& part : work.parts) {
      const std::span<const float> numbers = work.numbers_of(part, row);
      const std::uint64_t position = work.first_position + row;
      if (!is_finite(numbers)) {
        return no_vector(position, "with numbers that are not finite", run.answered_by->active);
      }
      // A norm beyond the range of the precision turns all numbers into zero.
      if (part.has_length_1 && is_zero(numbers)) {
        return no_vector(position, "of zeros, where its length is to be 1", run.answered_by->active);
      }
    }
  }
  return {};
}

// A thread of the team continues with the next run unless another thread is to compute it.
void Scheduler::compute_on_team(std::shared_ptr<Run> run) noexcept {
  while (run != nullptr) {
    const Status status = compute(*run);
    std::shared_ptr<Run> next;
    {
      const core::MutexLock lock(mutex_);
      finish(*run, status);
      dispatch(&next);
    }
    tell_done();
    run = std::move(next);
  }
}

BatchRecord Scheduler::record_of(const Run& run, std::chrono::steady_clock::duration time) {
  const FormedBatch& batch = run.batch;
  BatchRecord record{.texts = batch.rows,
                     .rows = std::max(batch.rows, batch.pieces.front().texts->shape.static_rows),
                     .width = batch.width,
                     .tokens = batch.tokens,
                     .computed_tokens = 0,
                     .submissions = batch.pieces.size(),
                     .time = time};
  record.computed_tokens = leaves_padding_out(run) ? record.tokens : std::uint64_t{record.rows} * record.width;
  return record;
}

Status Scheduler::compute(Run& run) noexcept {
  Status status;
  ++runs_of_this_thread;
  const auto began = std::chrono::steady_clock::now();
  try {
    status = execute(run);
    if (status.ok() && on_batch_) on_batch_(record_of(run, std::chrono::steady_clock::now() - began));
  } catch (...) {
    status = Status::of_exception().with_context("computing a batch, which takes less memory with fewer batch tokens");
  }
  --runs_of_this_thread;
  return status;
}

}  // namespace latebind::embedding
