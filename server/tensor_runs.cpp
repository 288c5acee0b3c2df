#include "server/tensor_runs.h"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <system_error>

#include "core/log.h"
#include "core/text/counted.h"

namespace latebind::server {

using core::Status;
using core::StatusCode;
using std::chrono::steady_clock;

TensorRuns::~TensorRuns() {
  {
    const core::MutexLock lock(mutex_);
    is_ending_ = true;
  }
  changed_.notify_all();
  // No thread is added any more.
  for (platform::Thread& thread : threads_)
    thread.join();
}

Status TensorRuns::start(const ExchangePtr& exchange, Inputs memory, std::vector<core::TensorView> views, Done done) {
  Runs added;
  Runs gone;
  added.emplace_back(exchange, std::move(memory), std::move(views), std::move(done));
  const auto run = added.begin();
  run->watch.emplace(exchange->gone(), [this, run] { drop(run); });
  const std::size_t threads_max = std::max(1U, model_->attestation()->active.requests);
  {
    const core::MutexLock lock(mutex_);
    gone.swap(dropped_);
    if (exchange->gone().is_requested()) return {};
    const std::size_t before = waiting_.size() + running_;
    if (before >= threads_max + waiting_max_) {
      return Status(StatusCode::kBusy, core::counted(waiting_.size(), "run") + " of the model already waiting");
    }
    if (before >= threads_.size() && threads_.size() < threads_max) {
      try {
        threads_.emplace_back([this] { work(); });
      } catch (const std::system_error&) {
        if (threads_.empty()) return Status(StatusCode::kBusy, "the system cannot start a thread for a run");
      }
    }
    run->is_waiting = true;
    waiting_.splice(waiting_.end(), added);
    in_flight_.fetch_add(1, std::memory_order_relaxed);
  }
  changed_.notify_one();
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
    changed_.notify_one();
  }
  in_flight_.fetch_sub(1, std::memory_order_release);
}

void TensorRuns::work() {
  platform::make_way(nice_);
  for (;;) {
    Runs mine;
    Runs gone;
    {
      const core::MutexLock lock(mutex_);
      changed_.wait(mutex_,
                    [this]() LB_REQUIRES(mutex_) { return is_ending_ || !waiting_.empty() || !dropped_.empty(); });
      gone.swap(dropped_);
      if (!waiting_.empty()) {
        mine.splice(mine.end(), waiting_, waiting_.begin());
        mine.front().is_waiting = false;
        ++running_;
      } else if (is_ending_) {
        return;
      }
    }
    gone.clear();
    if (mine.empty()) continue;
    execute(mine.front());
    mine.clear();
    {
      const core::MutexLock lock(mutex_);
      --running_;
    }
    in_flight_.fetch_sub(1, std::memory_order_release);
  }
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
