#include "embedding/scheduler.h"

#include <fmt/format.h>

#include <algorithm>
#include <condition_variable>
#include <cstdlib>
#include <new>
#include <optional>
#include <utility>

#include "embedding/pooling.h"

namespace latebind::embedding {

using core::Status;
using core::StatusCode;

namespace {

// Owners and texts of one owner that are looked at to form a batch: bounds for the time that it takes, under the lock.
constexpr std::size_t kOwnersMax = 256;
constexpr std::size_t kShareMax = 512;
constexpr std::size_t kShareMin = 64;
// With so many no more owners are looked at: more would save a little padding, and let those who came last pass those
// who came first.
constexpr std::size_t kPoolEnough = 192;
// Tokens of a batch for a device that leaves padding out: more make it no faster, and whoever comes next waits for it.
constexpr std::size_t kTokensWithoutPadding = 512;
// A token is shared by all who wait. 2^64 parts are 12,000 years of 10^9 tokens a day.
constexpr std::uint64_t kPartsOfToken = 4096;

// No device is blamed and the run is not repeated: it would almost certainly compute the same.
Status no_vector(std::uint64_t position, std::string_view what, const core::ActiveConfig& active) {
  const std::string_view remedy = active.precision == core::Precision::kF32
                                      ? "the model's weights may be damaged, or another device computes it right"
                                      : "f32 has the range that it may need";
  return Status(StatusCode::kInternal,
                fmt::format("texts[{}]: {}:{} gave a vector {}, in {}; {}", position, active.backend, active.device,
                            what, core::word_of(active.precision), remedy));
}

}  // namespace

// The texts of one submission.
struct Scheduler::Work {
  // Constant once they are handed over.
  Owner own_owner;         // of texts that have no other
  Owner* owner = nullptr;  // touched only while batches have not begun: it may be gone after that
  TokenTable tokens;
  BatchPlan plan;                           // its batches are for those that share none
  std::size_t static_rows = 0;              // 0: the device takes any shape
  std::vector<std::size_t> static_lengths;  // of such a device
  bool without_padding = false;             // the device leaves it out
  std::vector<float> memory;
  float* out = nullptr;
  bool keeps_tokens = false;         // a vector for each token
  std::vector<SparseVector> sparse;  // instead, where the forward gives those
  std::uint64_t first_position = 0;
  bool alone = false;
  bool more_follows = false;
  bool caller_helps = false;
  core::RunOptions limits;
  std::chrono::steady_clock::time_point submitted;

  std::condition_variable changed;
  // Guarded by the scheduler's mutex_, and constant once it is over.
  std::size_t next = 0;                  // alone: the first batch of the plan that has not begun
  std::vector<std::uint32_t> remaining;  // else: the texts that have not begun, longest first
  std::size_t running = 0;               // batches that have begun and not ended
  bool has_left = false;
  bool can_compute = false;    // a waiting thread computes
  std::shared_ptr<Run> given;  // for that thread
  Status error;
  std::uint64_t padded_tokens = 0;
  std::uint64_t fallback_texts = 0;
  std::shared_ptr<const core::Attestation> answered_by;
  std::chrono::steady_clock::time_point begun;
  std::chrono::steady_clock::time_point over;
  Done done;  // empty: somebody waits, or has been told
  bool is_over_noted = false;
  std::shared_ptr<Work> next_over;  // of Scheduler::over_

  [[nodiscard]] bool has_next() const { return alone ? next < plan.batches.size() : !remaining.empty(); }
  [[nodiscard]] bool is_over() const { return !has_next() && running == 0; }
  // Where the text's vectors are.
  [[nodiscard]] std::span<float> vectors_of(std::uint32_t row, std::size_t dimension) {
    if (!sparse.empty()) return sparse[row].values;
    if (!keeps_tokens) return {out + row * dimension, dimension};
    return {out + tokens.vectors_before(row) * dimension, tokens.vector_counts()[row] * dimension};
  }
  [[nodiscard]] bool waits_to_compute() const { return can_compute && given == nullptr; }
  [[nodiscard]] std::uint32_t length_of(std::uint32_t row) const { return tokens.lengths()[row]; }
  // What has not begun.
  [[nodiscard]] std::span<const std::uint32_t> rows_left() const {
    if (!alone) return remaining;
    const std::size_t first = has_next() ? plan.batches[next].first : 0;
    const std::size_t end = has_next() ? plan.batches.back().first + plan.batches.back().count : 0;
    return std::span(plan.order).subspan(first, end - first);
  }
};

namespace {

// Runs of the model that the calling thread is in: a callback of the host's may come in the middle of one (a line of
// the log) and want vectors itself. It does not wait then for a request that its own thread holds.
thread_local unsigned runs_of_this_thread = 0;

}  // namespace

// What one owner has in a run of the model.
struct Scheduler::Piece {
  std::shared_ptr<Work> work;
  std::vector<std::uint32_t> rows{};  // positions among the work's texts, longest first
  // The result.
  Status error{};
};

// One run of the model that has been formed.
struct Scheduler::Run {
  std::vector<Piece> pieces;
  std::size_t rows = 0;
  std::size_t width = 0;
  core::RunOptions limits{};  // when nothing waits for it any more
  std::shared_ptr<const core::Attestation> answered_by{};
};

class Scheduler::ScratchLease {
 public:
  explicit ScratchLease(Scheduler& scheduler) : scheduler_(scheduler) {
    const std::lock_guard lock(scheduler_.scratch_mutex_);
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
    const std::lock_guard lock(scheduler_.scratch_mutex_);
    auto& idle = scheduler_.idle_scratch_;
    if (idle.size() < idle.capacity()) idle.push_back(std::move(scratch_));
  }
  Forward::Scratch& operator*() { return *scratch_; }
  Forward::Scratch* operator->() { return scratch_.get(); }

 private:
  Scheduler& scheduler_;
  std::unique_ptr<Forward::Scratch> scratch_;
};

Scheduler::Scheduler(const Forward& forward, WorkTeam& team, std::size_t requests, std::size_t batch_tokens,
                     std::size_t longest, OnBatch on_batch)
    : forward_(forward),
      team_(team),
      requests_(requests),
      batch_tokens_(batch_tokens),
      longest_(longest),
      on_batch_(std::move(on_batch)) {
  waiting_.reserve(kSubmissionsMax);
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
  work->plan = plan_batches(lengths, {.tokens = batch_tokens_,
                                      .workers = requests_,
                                      .more_follows = texts.more_follows,
                                      .longest = longest_,
                                      .without_padding = attested->active.leaves_padding_out,
                                      .static_lengths = attested->active.static_lengths,
                                      .static_rows = attested->active.static_rows});
  work->without_padding = attested->active.leaves_padding_out;
  if (!attested->active.static_lengths.empty()) {
    work->static_rows = std::max<std::size_t>(1, attested->active.static_rows);
    work->static_lengths = attested->active.static_lengths;
  }
  if (!work->alone) {
    const auto has_tokens = [&](std::uint32_t row) { return lengths[row] > 0; };
    const auto end = std::ranges::partition_point(work->plan.order, has_tokens);
    work->remaining.assign(work->plan.order.begin(), end);
  }
  const std::size_t dimension = forward_.dimension();
  work->keeps_tokens = forward_.keeps_tokens();
  if (forward_.gives_sparse()) {
    work->sparse.resize(lengths.size());
    return work;
  }
  work->out = texts.out;
  if (work->out == nullptr) {
    work->memory.resize((work->keeps_tokens ? work->tokens.vector_count() : lengths.size()) * dimension);
    work->out = work->memory.data();
  }
  if (work->keeps_tokens) return work;
  // A text without a token (a tokenizer without special tokens makes them) has nothing to pool.
  for (auto row = work->plan.order.rbegin(); row != work->plan.order.rend() && lengths[*row] == 0; ++row) {
    std::fill_n(work->out + *row * dimension, dimension, 0.0F);
  }
  return work;
}

Status Scheduler::enqueue(const std::shared_ptr<Work>& work, std::uint64_t waiting_tokens_max) {
  if (submissions_ >= kSubmissionsMax) {
    return Status(StatusCode::kBusy, fmt::format("{} requests for vectors wait already", submissions_));
  }
  if (waiting_tokens_max > 0 && waiting_tokens_ > 0 && waiting_tokens_ + work->plan.tokens > waiting_tokens_max) {
    return Status(StatusCode::kBusy,
                  fmt::format("{} tokens wait already, and these are {} more", waiting_tokens_, work->plan.tokens));
  }
  if (work->has_next()) {
    waiting_.push_back(work);
    waiting_texts_ += work->rows_left().size();
    waiting_tokens_ += work->plan.tokens;
    Owner& owner = *work->owner;
    const bool waits_already = owner.waiting_tokens_ > 0;
    owner.waiting_tokens_ += work->plan.tokens;
    if (!waits_already) {
      owner.turn_ends_ = std::max(owner.turn_ends_, now_);
      begin_turn(owner);
    }
  }
  ++submissions_;
  return {};
}

core::Result<Scheduler::Submission> Scheduler::submit(Owner& owner, Texts texts) {
  const auto work = make_work(texts);
  work->owner = &owner;
  {
    const std::lock_guard lock(mutex_);
    LB_RETURN_IF_ERROR(enqueue(work, texts.waiting_tokens_max));
    // An owner that computes itself starts when it waits.
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
    const std::lock_guard lock(mutex_);
    LB_RETURN_IF_ERROR(enqueue(work, texts.waiting_tokens_max));
    dispatch(nullptr);
    note_if_over(work);
  }
  tell_done();
  return Ticket(*this, work);
}

QueueState Scheduler::queue_state() const {
  const std::lock_guard lock(mutex_);
  return {.waiting_texts = waiting_texts_, .waiting_tokens = waiting_tokens_, .running_batches = running_.size()};
}

// Puts what nobody waits for on the list of those to pass on.
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
    const std::lock_guard lock(mutex_);
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
    const std::lock_guard lock(scheduler_->mutex_);
    if (work->is_over()) return;
    if (work->error.ok()) work->error = Status(StatusCode::kCancelled, "nobody waits for these texts any more");
    scheduler_->stop_waiting(*work);
    scheduler_->note_if_over(work);
  }
  scheduler_->tell_done();
}

// What is next, of all or of what is waited for by threads that compute.
std::shared_ptr<Scheduler::Work> Scheduler::next_work(bool of_those_who_compute) const {
  // Of turns that begin together the short one.
  const auto turn_of = [](const Work& work) { return std::pair(work.owner->turn_begins_, work.owner->turn_ends_); };
  std::shared_ptr<Work> next;
  for (const auto& work : waiting_) {
    if (of_those_who_compute && !work->waits_to_compute()) continue;
    if (next == nullptr || turn_of(*work) < turn_of(*next)) next = work;
  }
  return next;
}

// An owner's turns follow each other.
void Scheduler::begin_turn(Owner& owner) const noexcept {
  owner.turn_tokens_ = std::min<std::uint64_t>(owner.waiting_tokens_, batch_tokens_);
  owner.turn_begins_ = owner.turn_ends_;
  owner.turn_ends_ += owner.turn_tokens_ * kPartsOfToken;
}

std::uint64_t Scheduler::tokens_of(const Piece& piece) noexcept {
  std::uint64_t tokens = 0;
  for (const std::uint32_t row : piece.rows)
    tokens += piece.work->length_of(row);
  return tokens;
}

bool Scheduler::leaves_padding_out(const Run& run) noexcept {
  return run.answered_by != nullptr && run.answered_by->active.leaves_padding_out;
}

// The texts of a piece have begun.
void Scheduler::take(const Piece& piece) noexcept {
  Work& work = *piece.work;
  if (work.running == 0 && work.begun == work.submitted) work.begun = std::chrono::steady_clock::now();
  waiting_texts_ -= piece.rows.size();
  const std::uint64_t tokens = tokens_of(piece);
  waiting_tokens_ -= tokens;
  Owner& owner = *work.owner;
  owner.waiting_tokens_ -= tokens;
  if (tokens < owner.turn_tokens_) {
    owner.turn_tokens_ -= tokens;
  } else if (owner.waiting_tokens_ > 0) {
    begin_turn(owner);
  }
  if (work.alone) {
    ++work.next;
  } else {
    // Both have the same order.
    auto taken = piece.rows.begin();
    std::erase_if(work.remaining, [&](std::uint32_t row) {
      if (taken == piece.rows.end() || *taken != row) return false;
      ++taken;
      return true;
    });
  }
  ++work.running;
  if (!work.has_next()) std::erase(waiting_, piece.work);
}

std::shared_ptr<Scheduler::Run> Scheduler::form(const std::shared_ptr<Work>& seed) {
  auto run = std::make_shared<Run>();
  if (seed->limits.is_bounded()) {
    // Once all waiting callers have left, nothing waits for it.
    run->limits.cancellation = core::Cancellation::create();
    run->limits.deadline = seed->limits.deadline;
  }
  if (seed->alone) {
    const embedding::Batch& batch = seed->plan.batches[seed->next];
    const auto rows = std::span(seed->plan.order).subspan(batch.first, batch.count);
    run->pieces.push_back({seed, {rows.begin(), rows.end()}});
    run->width = batch.width;
  } else {
    choose(seed, *run);
  }
  // From here on nothing needs memory.
  const std::size_t sharing = waiting_.size();
  std::uint64_t tokens = waiting_tokens_;
  for (const Piece& piece : run->pieces) {
    run->rows += piece.rows.size();
    take(piece);
    if (!piece.work->limits.is_bounded()) run->limits = {};
    if (!run->limits.deadline) continue;
    if (!piece.work->limits.deadline) {
      run->limits.deadline.reset();
    } else {
      run->limits.deadline = std::max(run->limits.deadline, piece.work->limits.deadline);
    }
  }
  // As far as is known now.
  const std::size_t more = (waiting_tokens_ + kTokensWithoutPadding - 1) / kTokensWithoutPadding;
  run->limits.side_by_side = std::min(requests_, running_.size() + 1 + more);
  tokens -= waiting_tokens_;
  now_ += tokens * kPartsOfToken / sharing;
  return run;
}

// What may be computed together with the longest text of `seed`: of owners in the order in which they came, the texts
// that are about as long.
std::vector<Scheduler::Candidate> Scheduler::pool_for(const std::shared_ptr<Work>& seed) const {
  std::vector<const std::shared_ptr<Work>*> owners{&seed};
  for (const auto& work : waiting_) {
    if (owners.size() == kOwnersMax) break;
    if (work != seed && !work->alone && work->static_rows == seed->static_rows) owners.push_back(&work);
  }
  const std::uint32_t wanted = seed->length_of(seed->remaining.front());
  const std::size_t share = std::max(kShareMin, kShareMax / owners.size());
  std::vector<Candidate> pool;
  pool.reserve(std::min(kPoolEnough + share + share / 4, waiting_texts_));
  for (const auto* work : owners) {
    if (pool.size() >= kPoolEnough) break;
    const auto& rows = (*work)->remaining;
    const auto length_of = [work](std::uint32_t row) { return (*work)->length_of(row); };
    const auto at =
        static_cast<std::size_t>(std::ranges::lower_bound(rows, wanted, std::greater<>(), length_of) - rows.begin());
    // More of the shorter ones: the longer ones make the batch wider.
    const std::size_t first = at - std::min(at, share / 4);
    const std::size_t end = std::min(rows.size(), first + share);
    for (std::size_t i = first; i < end; ++i)
      pool.push_back({work, rows[i], length_of(rows[i])});
  }
  // Equal ones stay in the order of their owners, the seed first.
  std::ranges::stable_sort(pool, std::greater<>(), &Candidate::length);
  return pool;
}

// The batch with the longest text of `seed` in it, of the best division of what waits. Throws for want of memory, and
// has then changed nothing but `run`.
void Scheduler::choose(const std::shared_ptr<Work>& seed, Run& run) const {
  const std::vector<Candidate> pool = pool_for(seed);
  const std::uint32_t first_row = seed->remaining.front();
  const auto at = static_cast<std::size_t>(
      std::ranges::find_if(
          pool, [&](const Candidate& each) { return each.work->get() == seed.get() && each.row == first_row; }) -
      pool.begin());
  std::size_t first = at;
  std::size_t end = at + 1;
  if (seed->static_rows > 0) {
    run.width = static_width(pool[at].length, seed->static_lengths);
    const auto fits = [&](std::size_t i) {
      return end - first < seed->static_rows && static_width(pool[i].length, seed->static_lengths) == run.width;
    };
    while (end < pool.size() && fits(end))
      ++end;
    while (first > 0 && fits(first - 1))
      --first;
  } else {
    std::vector<std::uint32_t> lengths(pool.size());
    std::ranges::transform(pool, lengths.begin(), &Candidate::length);
    std::uint64_t tokens = 0;
    for (const std::uint32_t length : lengths)
      tokens += length;
    const BatchShape shape{
        .tokens = seed->without_padding ? std::min(batch_tokens_, kTokensWithoutPadding) : batch_tokens_,
        .longest = longest_,
        .without_padding = seed->without_padding};
    for (const embedding::Batch& batch :
         divide(lengths, shape,
                {.workers = seed->more_follows ? 1 : requests_, .later_tokens = waiting_tokens_ - tokens})) {
      if (at >= batch.first + batch.count) continue;
      first = batch.first;
      end = batch.first + batch.count;
      run.width = batch.width;
      break;
    }
  }
  // The seed's piece comes first.
  run.pieces.push_back({seed});
  for (std::size_t i = first; i < end; ++i) {
    auto piece = std::ranges::find(run.pieces, *pool[i].work, &Piece::work);
    if (piece == run.pieces.end()) piece = run.pieces.insert(run.pieces.end(), {*pool[i].work});
    piece->rows.push_back(pool[i].row);
  }
}

// Forms batches as long as the device has requests free.
void Scheduler::dispatch(std::shared_ptr<Run>* for_caller) noexcept {
  while (running_.size() < requests_ && !waiting_.empty()) {
    std::shared_ptr<Work> seed = next_work(/*of_those_who_compute=*/false);
    if (!seed->waits_to_compute() && for_caller == nullptr && !team_.has_thread()) {
      seed = next_work(/*of_those_who_compute=*/true);
      if (seed == nullptr) return;
    }
    begin(seed, for_caller);
  }
}

// Forms a batch and hands it to a thread: the one that waits for these texts, if it computes, else one of the team, or,
// when `for_caller` is given, the calling one.
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
      stop_waiting(*seed);
      if (seed->error.ok()) seed->error = status;
      seed->changed.notify_all();
      note_if_over(seed);
    }
  }
}

void Scheduler::stop_waiting(Work& work) noexcept {
  const auto left = work.rows_left();
  waiting_texts_ -= left.size();
  for (const std::uint32_t row : left) {
    waiting_tokens_ -= work.length_of(row);
    work.owner->waiting_tokens_ -= work.length_of(row);
  }
  work.next = work.plan.batches.size();
  work.remaining.clear();
  std::erase_if(waiting_, [&](const std::shared_ptr<Work>& each) { return each.get() == &work; });
}

// The error of a run, with its place; unchanged when there is no memory for that.
Status Scheduler::in_batch(Status error, std::uint64_t position, const Run& run) {
  try {
    return error.with_context(
        fmt::format("texts[{}], in a batch of {} texts of up to {} tokens", position, run.rows, run.width));
  } catch (const std::bad_alloc&) {
    return error;
  }
}

void Scheduler::finish(const Run& run, const Status& status) noexcept {
  std::erase(running_, &run);
  const bool is_fallback = run.answered_by != nullptr && run.answered_by->fallback;
  const std::size_t static_rows = run.pieces.front().work->static_rows;
  for (const Piece& piece : run.pieces) {
    Work& work = *piece.work;
    --work.running;
    Status error = status.ok() ? piece.error : status;
    if (!error.ok()) {
      if (!status.ok()) error = in_batch(std::move(error), work.first_position + piece.rows.front(), run);
      if (work.error.ok()) work.error = std::move(error);
      stop_waiting(work);
    } else {
      work.padded_tokens += leaves_padding_out(run) ? tokens_of(piece) : piece.rows.size() * run.width;
      // A static shape is computed whole, however few rows of it are used.
      if (static_rows > run.rows && &piece == &run.pieces.front()) {
        work.padded_tokens += (static_rows - run.rows) * run.width;
      }
      if (is_fallback) work.fallback_texts += piece.rows.size();
      if (work.answered_by == nullptr || is_fallback || !work.answered_by->fallback) work.answered_by = run.answered_by;
    }
    work.changed.notify_all();
    note_if_over(piece.work);
  }
}

Status Scheduler::execute(Run& run) {
  ScratchLease scratch(*this);
  auto& rows = scratch->rows;
  rows.clear();
  const std::size_t dimension = forward_.dimension();
  for (const Piece& piece : run.pieces) {
    for (const std::uint32_t row : piece.rows) {
      const TokenTable& tokens = piece.work->tokens;
      Work& work = *piece.work;
      rows.push_back({.ids = tokens.ids(row),
                      .vector = work.vectors_of(row, dimension).data(),
                      .sparse = work.sparse.empty() ? nullptr : &work.sparse[row],
                      .type_one_from = tokens.type_one_from(row),
                      .pooled_from = tokens.pooled_from(row),
                      .unattended_from = tokens.unattended_from(row),
                      .kept = tokens.kept(row)});
    }
  }
  LB_RETURN_IF_ERROR(forward_.run(rows, run.width, *scratch, run.limits, &run.answered_by));
  for (Piece& piece : run.pieces) {
    for (const std::uint32_t row : piece.rows) {
      const std::span<const float> vector = piece.work->vectors_of(row, dimension);
      const std::uint64_t position = piece.work->first_position + row;
      if (!is_finite(vector)) {
        piece.error = no_vector(position, "with numbers that are not finite", run.answered_by->active);
      } else if (forward_.normalizes() && is_zero(vector)) {
        // A length beyond the range of its precision divides all numbers away.
        piece.error = no_vector(position, "of zeros, where its length is to be 1", run.answered_by->active);
      }
      if (!piece.error.ok()) break;
    }
  }
  return {};
}

// A thread of the team goes on with what is next as long as nobody else is to compute that.
void Scheduler::compute_on_team(std::shared_ptr<Run> run) noexcept {
  while (run != nullptr) {
    const Status status = compute(*run);
    std::shared_ptr<Run> next;
    {
      const std::lock_guard lock(mutex_);
      finish(*run, status);
      dispatch(&next);
    }
    tell_done();
    run = std::move(next);
  }
}

BatchRecord Scheduler::record_of(const Run& run, std::chrono::steady_clock::duration time) {
  BatchRecord record{.texts = run.rows,
                     .rows = std::max(run.rows, run.pieces.front().work->static_rows),
                     .width = run.width,
                     .tokens = 0,
                     .computed_tokens = 0,
                     .owners = run.pieces.size(),
                     .time = time};
  for (const Piece& piece : run.pieces)
    record.tokens += tokens_of(piece);
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

Status Scheduler::wait(const std::shared_ptr<Work>& work, const core::RunOptions& limits, bool until_begun) {
  std::optional<core::Cancellation::Watch> watch;  // goes after the lock, which its action takes
  if (limits.cancellation.can_be_requested()) {
    watch.emplace(limits.cancellation, [this, &work] {
      const std::lock_guard lock(mutex_);
      work->changed.notify_all();
    });
  }
  std::unique_lock lock(mutex_);
  const auto is_enough = [&] { return until_begun ? !work->has_next() && work->given == nullptr : work->is_over(); };
  const bool is_nested = runs_of_this_thread > 0;
  Status status;
  while (!is_enough() && status.ok()) {
    if (const auto run = std::exchange(work->given, nullptr)) {
      work->can_compute = false;  // until it is back
      lock.unlock();
      const Status computed = compute(*run);
      lock.lock();
      finish(*run, computed);
      work->can_compute = true;  // this thread goes on before another one is woken
      dispatch(nullptr);
      if (over_ == nullptr) continue;
      lock.unlock();
      tell_done();
      lock.lock();
      continue;
    }
    // Within limits it is the team that computes: the vendor's call does not end with them.
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
      work->changed.wait(lock);
    } else if (std::chrono::steady_clock::now() >= *limits.deadline) {
      status = Status(StatusCode::kDeadlineExceeded, "the time was up while texts were being computed");
    } else {
      work->changed.wait_until(lock, *limits.deadline);
    }
  }
  work->can_compute = false;
  lock.unlock();
  tell_done();
  return status;
}

void Scheduler::abandon(Work& work) noexcept {
  std::unique_lock lock(mutex_);
  --submissions_;
  stop_waiting(work);
  work.has_left = true;
  if (!work.limits.is_bounded()) {
    work.changed.wait(lock, [&] { return work.running == 0; });
    return;
  }
  for (Run* run : running_) {
    const auto has_left = [](const Piece& piece) { return piece.work->has_left; };
    if (std::ranges::all_of(run->pieces, has_left)) run->limits.cancellation.request();
  }
}

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
  const std::lock_guard lock(scheduler_->mutex_);
  return work_->is_over();
}

Status Scheduler::Submission::help(const core::RunOptions& limits) {
  return scheduler_->wait(work_, limits, /*until_begun=*/true);
}

Status Scheduler::Submission::wait(const core::RunOptions& limits) {
  LB_RETURN_IF_ERROR(scheduler_->wait(work_, limits, /*until_begun=*/false));
  return work_->error;
}

std::span<const float> Scheduler::Submission::vectors() const {
  return work_->memory;
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

std::vector<float> Scheduler::Submission::take_vectors() {
  return std::move(work_->memory);
}

std::vector<SparseVector> Scheduler::Submission::take_sparse() {
  return std::move(work_->sparse);
}

}  // namespace latebind::embedding
