#include "server/tensor_runs.h"

#include <fmt/format.h>

#include <algorithm>
#include <exception>

#include "core/log.h"
#include "core/text/counted.h"

namespace latebind::server {

using core::Status;
using core::StatusCode;
using std::chrono::steady_clock;

Status TensorRuns::start(const ExchangePtr& exchange, Inputs memory, std::vector<core::TensorView> views, Done done) {
  Runs added;
  Runs gone;
  added.emplace_back(exchange, std::move(memory), std::move(views), std::move(done));
  const auto run = added.begin();
  run->watch.emplace(exchange->gone(), [this, run] { drop(run); });
  const std::size_t threads_max = std::max(1U, model_->attestation()->active.requests);
  pool_.allow(threads_max);
  if (!pool_.has_thread()) return Status(StatusCode::kBusy, "the system cannot start a thread for a run");
  {
    const core::MutexLock lock(mutex_);
    gone.swap(dropped_);
    if (exchange->gone().is_requested()) return {};
    const std::size_t before = waiting_.size() + running_;
    if (before >= threads_max + waiting_max_) {
      return Status(StatusCode::kBusy, core::counted(waiting_.size(), "run") + " of the model already waiting");
    }
    pool_.post([this] { run_next(); });
    run->is_waiting = true;
    waiting_.splice(waiting_.end(), added);
    in_flight_.fetch_add(1, std::memory_order_relaxed);
  }
  return {};
}

TensorRuns::State TensorRuns::state() const {
  const core::MutexLock lock(mutex_);
  return {.waiting = waiting_.size(), .running = running_};
}

// Called on the cancelling thread. Removes the run if it still waits.
void TensorRuns::drop(Runs::iterator run) {
  {
    const core::MutexLock lock(mutex_);
    if (!run->is_waiting) return;
    run->is_waiting = false;
    dropped_.splice(dropped_.end(), waiting_, run);
  }
  in_flight_.fetch_sub(1, std::memory_order_release);
}

void TensorRuns::run_next() {
  Runs mine;
  Runs gone;
  {
    const core::MutexLock lock(mutex_);
    gone.swap(dropped_);
    if (!waiting_.empty()) {
      mine.splice(mine.end(), waiting_, waiting_.begin());
      mine.front().is_waiting = false;
      ++running_;
    }
  }
  gone.clear();
  if (mine.empty()) return;
  execute(mine.front());
  mine.clear();
  {
    const core::MutexLock lock(mutex_);
    --running_;
  }
  in_flight_.fetch_sub(1, std::memory_order_release);
}

void TensorRuns::execute(Run& run) const {
  const core::Cancellation& cancellation = run.exchange->gone();
  const auto began = steady_clock::now();
  Ran ran;
  try {
    ran.outputs.resize(model_->outputs().size());
    core::RunOptions limits;
    limits.cancellation = cancellation;
    ran.status = model_->execute(run.views, ran.outputs, limits, &ran.answered_by);
  } catch (const std::exception&) {
    ran.status = Status::of_exception();
  }
  ran.waiting = began - run.began;
  ran.computing = steady_clock::now() - began;
  run.memory.clear();
  if (cancellation.is_requested()) return;
  try {
    if (ran.answered_by == nullptr) ran.answered_by = model_->attestation();
    run.done(std::move(ran));
  } catch (const std::exception& failure) {
    // The destructor of the exchange answers.
    core::log(core::LogLevel::kError, fmt::format("cannot make an answer: {}", failure.what()));
  }
}

}  // namespace latebind::server
