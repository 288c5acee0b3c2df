// Submissions: how texts enter the queue, wait and leave it.
//
// Invariant while mutex_ is free: queue_ has the work with texts that have not begun, and running_ has the runs that
// have begun but not ended. Exactly one thread executes each run: a thread that waits for its texts and can compute
// (Work::given), or a thread of the team, which may be the one that just finished another run.
#include "embedding/schedule/scheduler.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "core/text/counted.h"
#include "embedding/schedule/scheduler_parts.h"

namespace latebind::embedding {

using core::Status;
using core::StatusCode;

Scheduler::Scheduler(const Forward& forward, core::ThreadPool& team, std::size_t requests, std::size_t batch_tokens,
                     std::size_t longest, OnBatch on_batch)
    : forward_(forward),
      team_(team),
      requests_(requests),
      batch_tokens_(batch_tokens),
      longest_(longest),
      on_batch_(std::move(on_batch)),
      queue_(batch_tokens, kSubmissionsMax),
      former_(requests) {
  running_.reserve(requests_);
  idle_scratch_.reserve(requests_);
}

Scheduler::~Scheduler() = default;

std::shared_ptr<Scheduler::Work> Scheduler::make_work(Texts& texts) const {
  auto work = std::make_shared<Work>();
  work->owner = &work->own_owner;
  work->tokens = std::move(texts.tokens);
  work->first_position = texts.first_position;
  work->alone = texts.alone;
  work->more_follows = texts.more_follows;
  work->caller_helps = texts.caller_helps;
  work->limits = std::move(texts.limits);
  work->submitted = work->begun = work->over = std::chrono::steady_clock::now();
  const auto attested = forward_.attestation();
  const auto lengths = work->tokens.lengths();
  work->lengths = lengths;
  work->plan = plan_batches(lengths, {.tokens = batch_tokens_,
                                      .workers = requests_,
                                      .more_follows = texts.more_follows,
                                      .longest = longest_,
                                      .without_padding = attested->active.leaves_padding_out,
                                      .packs_tokens = attested->active.packs_tokens,
                                      .static_lengths = attested->active.static_lengths,
                                      .static_rows = attested->active.static_rows});
  work->shape = {.tokens = batch_tokens_,
                 .longest = longest_,
                 .without_padding = attested->active.leaves_padding_out,
                 .packs_tokens = attested->active.packs_tokens,
                 .kept_shapes = attested->active.kept_shapes};
  if (!attested->active.static_lengths.empty()) {
    work->shape.static_rows = std::max<std::size_t>(1, attested->active.static_rows);
    work->static_lengths = attested->active.static_lengths;
  }
  if (!work->alone) {
    const auto has_tokens = [&](std::uint32_t row) { return lengths[row] > 0; };
    const auto end = std::ranges::partition_point(work->plan.order, has_tokens);
    work->remaining.assign(work->plan.order.begin(), end);
  }
  if (texts.wanted.empty()) texts.wanted.emplace_back();
  work->parts.reserve(texts.wanted.size());
  for (const Wanted& wanted : texts.wanted)
    work->parts.push_back(make_part(*work, wanted));
  return work;
}

Scheduler::Part Scheduler::make_part(const Work& work, const Wanted& wanted) const {
  const BoundOutput& bound = forward_.outputs()[wanted.output];
  const auto lengths = work.tokens.lengths();
  Part part{.output = wanted.output,
            .form = bound.form(),
            .dimension = bound.computed(),
            .has_length_1 = bound.output->normalizes(),
            .out = wanted.out};
  if (part.form == ResultForm::kSparseRow) {
    part.sparse.resize(lengths.size());
    return part;
  }
  if (part.out == nullptr) {
    const std::size_t rows = part.form == ResultForm::kRaggedRows ? work.tokens.vector_count() : lengths.size();
    part.memory.resize(rows * part.dimension);
    part.out = part.memory.data();
  }
  if (part.form == ResultForm::kRaggedRows) return part;
  // A text without a token, from a tokenizer without special tokens, cannot be pooled: its row is zero.
  const auto& order = work.plan.order;
  for (auto row = order.rbegin(); row != order.rend() && lengths[*row] == 0; ++row) {
    std::fill_n(part.out + *row * part.dimension, part.dimension, 0.0F);
  }
  return part;
}

Status Scheduler::enqueue(const std::shared_ptr<Work>& work, std::uint64_t queue_tokens_max) {
  if (submissions_ >= kSubmissionsMax) {
    return Status(StatusCode::kBusy, fmt::format("{} requests for vectors wait already", submissions_));
  }
  if (queue_tokens_max > 0 && !state().has_room(work->plan.tokens, queue_tokens_max)) {
    return Status(StatusCode::kBusy,
                  fmt::format("{} waiting already and {} being computed, and these are {} more",
                              core::counted(queue_.tokens(), "token"), running_tokens_, work->plan.tokens));
  }
  if (work->has_next()) queue_.join(work);
  ++submissions_;
  return {};
}

core::Result<Scheduler::Submission> Scheduler::submit(Owner& owner, Texts texts) {
  const auto work = make_work(texts);
  work->owner = &owner;
  {
    const core::MutexLock lock(mutex_);
    LB_RETURN_IF_ERROR(enqueue(work, texts.queue_tokens_max));
    // A submission whose caller computes starts when the caller waits.
    if (!work->caller_helps) dispatch(nullptr);
  }
  tell_done();
  return Submission(*this, work);
}

core::Result<Scheduler::Ticket> Scheduler::submit_and_tell(Texts texts, Done done) {
  if (!team_.has_thread()) return Status(StatusCode::kOutOfMemory, "no thread could be started to compute texts");
  const auto work = make_work(texts);
  work->done = std::move(done);
  {
    const core::MutexLock lock(mutex_);
    LB_RETURN_IF_ERROR(enqueue(work, texts.queue_tokens_max));
    dispatch(nullptr);
    note_if_over(work);
  }
  tell_done();
  return Ticket(*this, work);
}

QueueState Scheduler::queue_state() const {
  const core::MutexLock lock(mutex_);
  return state();
}

QueueState Scheduler::state() const noexcept {
  return {.waiting_texts = queue_.texts(),
          .waiting_tokens = queue_.tokens(),
          .running_batches = running_.size(),
          .running_tokens = running_tokens_};
}

// Records the end of work that is over. If it has a Done, adds it to the list over_.
void Scheduler::note_if_over(const std::shared_ptr<Work>& work) noexcept {
  if (!work->is_over() || work->is_over_noted) return;
  work->is_over_noted = true;
  work->over = std::chrono::steady_clock::now();
  if (!work->done) return;
  work->next_over = std::exchange(over_, work);
}

void Scheduler::tell_done() noexcept {
  std::shared_ptr<Work> over;
  {
    const core::MutexLock lock(mutex_);
    over = std::exchange(over_, nullptr);
  }
  while (over != nullptr) {
    const std::shared_ptr<Work> work = std::exchange(over, nullptr);
    over = std::exchange(work->next_over, nullptr);
    const Done done = std::exchange(work->done, nullptr);
    done(Submission(*this, work));
  }
}

void Scheduler::Ticket::drop() const {
  const std::shared_ptr<Work> work = work_.lock();
  if (work == nullptr) return;
  {
    const core::MutexLock lock(scheduler_->mutex_);
    if (work->is_over()) return;
    if (work->error.ok())
      work->error = Status(StatusCode::kCancelled, "the texts were dropped before they were computed");
    scheduler_->leave(*work);
    scheduler_->note_if_over(work);
  }
  scheduler_->tell_done();
}

// Returns the work whose turn is next, of all or of the work for which a computing thread waits.
std::shared_ptr<Scheduler::Work> Scheduler::next_work(bool of_those_who_compute) const {
  return Work::of(queue_.next([&](const QueuedTexts& texts) {
    return !of_those_who_compute || static_cast<const Work&>(texts).waits_to_compute();
  }));
}

// Forms a batch and gives its run the limits of those who wait for it: the run ends once all of them have left. Throws
// std::bad_alloc, and has changed nothing then.
std::shared_ptr<Scheduler::Run> Scheduler::form(const std::shared_ptr<Work>& seed) {
  auto run = std::make_shared<Run>();
  core::RunOptions limits{.nobody_waits = core::Cancellation::create()};
  if (seed->limits.is_bounded()) {
    limits.cancellation = core::Cancellation::create();
    limits.deadline = seed->limits.deadline;
  }
  run->batch = former_.form(queue_, seed, running_.size());
  // No code below allocates memory.
  const auto now = std::chrono::steady_clock::now();
  for (const BatchPiece& piece : run->batch.pieces) {
    Work& work = Work::of(piece);
    if (work.running == 0 && work.begun == work.submitted) work.begun = now;
    ++work.running;
    if (!work.limits.is_bounded()) limits.cancellation = {};
    if (!work.limits.deadline) limits.deadline.reset();
    if (limits.deadline) limits.deadline = std::max(limits.deadline, work.limits.deadline);
  }
  limits.side_by_side = run->batch.side_by_side;
  run->limits = std::move(limits);
  running_tokens_ += run->batch.tokens;
  return run;
}

// Forms batches while the device has free requests.
void Scheduler::dispatch(std::shared_ptr<Run>* for_caller) noexcept {
  while (running_.size() < requests_ && !queue_.empty()) {
    std::shared_ptr<Work> seed = next_work(/*of_those_who_compute=*/false);
    if (!seed->waits_to_compute() && for_caller == nullptr && !team_.has_thread()) {
      seed = next_work(/*of_those_who_compute=*/true);
      if (seed == nullptr) return;
    }
    begin(seed, for_caller);
  }
}

// Forms a batch and hands it to a thread: to the thread that waits for these texts, if it can compute; else to the
// calling one, if `for_caller` is given and empty; else to the team.
void Scheduler::begin(const std::shared_ptr<Work>& seed, std::shared_ptr<Run>* for_caller) noexcept {
  std::shared_ptr<Run> run;
  try {
    run = form(seed);
    running_.push_back(run.get());
    if (seed->waits_to_compute()) {
      seed->given = run;
      seed->changed.notify_all();
    } else if (for_caller != nullptr && *for_caller == nullptr) {
      *for_caller = run;
    } else {
      team_.post([this, run] { compute_on_team(run); });
    }
  } catch (...) {
    const Status status = Status::of_exception().with_context("forming a batch");
    if (run != nullptr) {
      finish(*run, status);
    } else {
      queue_.leave(*seed);
      if (seed->error.ok()) seed->error = status;
      seed->changed.notify_all();
      note_if_over(seed);
    }
  }
}

Status Scheduler::wait(const std::shared_ptr<Work>& work, const core::RunOptions& limits, bool until_begun) {
  std::optional<core::Cancellation::Watch> watch;  // destroyed after the lock, which its action takes
  if (limits.cancellation.can_be_requested()) {
    watch.emplace(limits.cancellation, [this, &work] {
      const core::MutexLock lock(mutex_);
      work->changed.notify_all();
    });
  }
  Status status;
  {
    const core::MutexLock lock(mutex_);
    status = work_until(work, limits, until_begun);
    work->can_compute = false;
  }
  tell_done();
  return status;
}

// The loop of a waiting thread: compute the run that was given to it; otherwise dispatch waiting work, and sleep until
// the work changes. A thread that is already inside a run (a callback of the host) begins its batches without waiting
// for a free request, because it may hold the only one.
Status Scheduler::work_until(const std::shared_ptr<Work>& work, const core::RunOptions& limits, bool until_begun) {
  const auto is_enough = [&] { return until_begun ? !work->has_next() && work->given == nullptr : work->is_over(); };
  const bool is_nested = is_within_run();
  Status status;
  while (!is_enough() && status.ok()) {
    if (const auto run = std::exchange(work->given, nullptr)) {
      work->can_compute = false;  // until this run ends
      Status computed;
      {
        const core::MutexUnlock unlocked(mutex_);
        computed = compute(*run);
      }
      finish(*run, computed);
      work->can_compute = true;  // this thread continues before another one is woken
      dispatch(nullptr);
      if (over_ == nullptr) continue;
      const core::MutexUnlock unlocked(mutex_);
      tell_done();
      continue;
    }
    // With limits the team computes, because a vendor's call does not end with the limits.
    work->can_compute = is_nested || (work->caller_helps && !limits.is_bounded()) || !team_.has_thread();
    if (is_nested && work->has_next()) {
      begin(work, nullptr);
    } else {
      dispatch(nullptr);
    }
    if (work->given != nullptr || is_enough()) continue;
    if (limits.cancellation.is_requested()) {
      status = Status(StatusCode::kCancelled, "cancelled while texts were being computed");
    } else if (!limits.deadline) {
      work->changed.wait(mutex_);
    } else if (std::chrono::steady_clock::now() >= *limits.deadline) {
      status = Status(StatusCode::kDeadlineExceeded, "the time was up while texts were being computed");
    } else {
      work->changed.wait_until(mutex_, *limits.deadline);
    }
  }
  return status;
}

// Drops the work's texts. Its runs continue while other callers wait for them; otherwise they end as soon as possible.
void Scheduler::leave(Work& work) noexcept {
  queue_.leave(work);
  work.has_left = true;
  for (Run* run : running_) {
    const auto has_left = [](const BatchPiece& piece) { return Work::of(piece).has_left; };
    if (!std::ranges::all_of(run->batch.pieces, has_left)) continue;
    run->limits.cancellation.request();
    run->limits.nobody_waits.request();
  }
}

void Scheduler::abandon(Work& work) noexcept {
  const core::MutexLock lock(mutex_);
  --submissions_;
  leave(work);
  if (!work.limits.is_bounded()) work.changed.wait(mutex_, [&] { return work.running == 0; });
}

}  // namespace latebind::embedding
