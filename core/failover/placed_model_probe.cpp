#include <algorithm>
#include <exception>
#include <utility>

#include "core/failover/placed_model_state.h"
#include "core/threads/background_work.h"
#include "core/threads/mutex.h"

namespace latebind::core {
namespace {

// How long the destructor waits for the background thread. That thread leaves abandonable calls at once, but may be
// inside a call that it cannot abandon, such as releasing a vendor's object.
constexpr std::chrono::milliseconds kProberPatience{2'000};

// How long the background thread waits before it continues after running out of memory.
constexpr std::chrono::milliseconds kAfterException{1'000};

}  // namespace

void PlacedModel::State::ensure_prober() {
  const MutexLock lock(mutex_);
  if (stop_) return;
  if (!prober_running_) {
    try {
      prober_ = platform::Thread([self = shared_from_this()] { self->run_prober(); });
      prober_running_ = true;
    } catch (const std::exception&) {
      return;  // the next failure tries again
    }
  }
  wake_.notify_all();
}

void PlacedModel::State::start_standby() {
  {
    const MutexLock lock(mutex_);
    standby_wanted_ = true;
  }
  ensure_prober();
}

void PlacedModel::State::run_prober() {
  const MutexLock lock(mutex_);
  while (!stop_) {
    try {
      probe_next();
    } catch (const std::exception&) {  // no memory at the moment
      wake_.wait_for(mutex_, kAfterException, [this]() LB_REQUIRES(mutex_) { return stop_; });
    }
  }
  prober_running_ = false;
  stopped_.notify_all();
}

// Does `work`, which calls a vendor, without the lock. If the process is ending, it waits for stop() instead.
template <class Work>
void PlacedModel::State::in_background(const Work& work) {
  const auto counted = BackgroundWork::begin();
  if (!counted) {
    wake_.wait(mutex_, [this]() LB_REQUIRES(mutex_) { return stop_; });
    return;
  }
  const MutexUnlock unlocked(mutex_);
  work();
}

// Does one thing that is due, or waits until there is one.
void PlacedModel::State::probe_next() {
  if (standby_wanted_) {
    standby_wanted_ = false;
    const auto active = std::ranges::find_if(slots_, [](const Slot& slot) { return slot.executable != nullptr; });
    const auto next = active == slots_.end() ? active : std::find_if(active + 1, slots_.end(), [](const Slot& slot) {
      return !slot.out_of_rotation;
    });
    if (next != slots_.end()) {
      in_background([&] { load_standby(*next); });
      return;
    }
  }
  if (const auto suspected = std::ranges::find_if(slots_, &Slot::suspected); suspected != slots_.end()) {
    suspected->suspected = false;
    in_background([&] { check_suspect(*suspected); });
    return;
  }
  std::optional<Clock::time_point> earliest;
  const auto now = Clock::now();
  for (Slot& slot : slots_) {
    const auto due = slot.out_of_rotation ? std::nullopt : slot.breaker.probe_due();
    if (!due) continue;
    if (slot.breaker.begin_probe(now)) {
      in_background([&] {
        try {
          probe(slot, slot.breaker.openings());
        } catch (...) {
          slot.breaker.failed(Clock::now());
          throw;
        }
      });
      return;
    }
    if (!earliest || *due < *earliest) earliest = due;
  }
  if (earliest) {
    wake_.wait_until(mutex_, *earliest);
  } else {
    wake_.wait(mutex_);
  }
}

void PlacedModel::State::load_standby(Slot& slot) {
  const auto openings = slot.breaker.openings();
  const auto loaded = load(slot, false, {.cancellation = leaving_});
  if (loaded.ok() || leaving_.is_requested()) return;
  if (is_device_fault(loaded.status())) {
    failed(slot, openings, loaded.status());
  } else {
    refused(slot, loaded.status());
  }
}

// Runs a real inference on made-up values. If that fails, the model is loaded again and tried a second time, because a
// device that was reset has lost what was on it. If that fails as well, nothing stays loaded while the device rests. A
// device that hangs gets no second run. If no shapes are known, the next request is let through.
void PlacedModel::State::probe(Slot& slot, std::uint64_t openings) {
  std::shared_ptr<Executable> executable;
  {
    const MutexLock lock(mutex_);
    executable = slot.executable;
  }
  Status said;
  Answer answer = Answer::kNotAskable;
  const RunOptions until_leaving{.cancellation = leaving_};
  if (is_usable(executable)) answer = ask(slot, *executable, until_leaving, &said);
  if (answer == Answer::kFails || answer == Answer::kNotAskable) {
    executable = nullptr;
    auto loaded = load(slot, true, until_leaving);
    if (leaving_.is_requested()) return;
    if (!loaded.ok()) {
      failed(slot, openings, loaded.status());
      return;
    }
    answer = ask(slot, **loaded, until_leaving, &said);
    if (answer == Answer::kFails) {
      *loaded = nullptr;
      unload(slot);
    }
  }
  if (leaving_.is_requested()) return;
  switch (answer) {
    case Answer::kWorks:
      succeeded(slot, openings);
      return;
    case Answer::kNotAskable:
      want_request(slot, openings);
      return;
    case Answer::kFails:
    case Answer::kNone:
      failed(slot, openings, said);
      return;
    case Answer::kHangs:
      failed(slot, openings, said.with_context("when it was probed"));
  }
}

void PlacedModel::State::stop() {
  leaving_.request();
  platform::Thread prober;
  {
    const MutexLock lock(mutex_);
    stop_ = true;
    wake_.notify_all();
    if (!prober_.joinable()) return;
    const bool ended =
        stopped_.wait_for(mutex_, kProberPatience, [this]() LB_REQUIRES(mutex_) { return !prober_running_; });
    prober = std::move(prober_);
    if (!ended) {
      // The thread is inside a vendor call that does not return. It holds what it uses and ends when the call does.
      prober.detach();
      return;
    }
  }
  prober.join();
}

}  // namespace latebind::core
