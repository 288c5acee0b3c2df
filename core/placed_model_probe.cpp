#include <algorithm>
#include <system_error>
#include <utility>

#include "core/placed_model_state.h"

namespace latebind::core {
namespace {

// How long a probe may run on a device that has no run timeout.
constexpr std::chrono::milliseconds kProbeTimeout{60'000};

// How long destruction waits for a probe that is inside a vendor call.
constexpr std::chrono::milliseconds kShutdownPatience{2'000};

}  // namespace

void PlacedModel::State::ensure_prober() {
  const std::lock_guard lock(mutex_);
  if (stop_) return;
  if (!prober_running_) {
    try {
      prober_ = std::thread([self = shared_from_this()] { self->probe_for_ever(); });
      prober_running_ = true;
    } catch (const std::system_error&) {
      return;  // no thread to give: the next failure tries again
    }
  }
  wake_.notify_all();
}

void PlacedModel::State::start_standby() {
  {
    const std::lock_guard lock(mutex_);
    standby_wanted_ = true;
  }
  ensure_prober();
}

void PlacedModel::State::probe_for_ever() {
  std::unique_lock lock(mutex_);
  while (!stop_) {
    if (standby_wanted_) {
      standby_wanted_ = false;
      const auto active = std::ranges::find_if(slots_, [](const Slot& slot) { return slot.executable != nullptr; });
      const auto next = active == slots_.end() ? active : std::find_if(active + 1, slots_.end(), [](const Slot& slot) {
        return !slot.out_of_rotation;
      });
      if (next != slots_.end()) {
        lock.unlock();
        const auto openings = next->breaker.openings();
        if (const auto loaded = load(*next, false); !loaded.ok()) {
          if (is_device_fault(loaded.status())) {
            failed(*next, openings, loaded.status(), nullptr);
          } else {
            refused(*next, loaded.status());
          }
        }
        lock.lock();
        continue;
      }
    }
    Slot* due = nullptr;
    std::optional<Clock::time_point> earliest;
    const auto now = Clock::now();
    for (Slot& slot : slots_) {
      if (slot.out_of_rotation) continue;
      const auto when = slot.breaker.probe_due();
      if (!when) continue;
      if (*when <= now) {
        due = &slot;
        break;
      }
      if (!earliest || *when < *earliest) earliest = when;
    }
    if (due != nullptr && due->breaker.begin_probe(now)) {
      const auto openings = due->breaker.openings();
      lock.unlock();
      const Status status = probe(*due);
      if (status.ok()) {
        succeeded(*due, openings);
      } else {
        failed(*due, openings, status, nullptr);
      }
      lock.lock();
    } else if (earliest) {
      wake_.wait_until(lock, *earliest);
    } else {
      wake_.wait(lock);
    }
  }
  prober_running_ = false;
  stopped_.notify_all();
}

// A real inference on what the device failed on; a second try with the model loaded anew, because a device that was
// reset forgets what was on it. One that hangs is not given a second run to hang on.
Status PlacedModel::State::probe(Slot& slot) {
  std::shared_ptr<Executable> executable;
  std::shared_ptr<const RequestSample> sample;
  {
    const std::lock_guard lock(mutex_);
    executable = slot.executable;
    sample = slot.sample;
  }
  const auto try_once = [&](Executable& on) -> Status {
    if (!sample) return {};
    std::vector<OutputTensor> outputs(outputs_.size());
    RunOptions options;
    options.deadline = Clock::now() + run_timeout_of(slot).value_or(kProbeTimeout);
    Status status = on.execute(sample->views(), outputs, options);
    if (status.code() != StatusCode::kDeadlineExceeded) return status;
    return status.with_context("hung when it was probed");
  };
  if (executable && sample) {
    Status status = try_once(*executable);
    if (status.ok() || status.code() == StatusCode::kDeadlineExceeded || status.code() == StatusCode::kBusy) {
      return status;
    }
  }
  LB_ASSIGN_OR_RETURN(executable, load(slot, true));
  return try_once(*executable);
}

void PlacedModel::State::stop() {
  std::thread prober;
  {
    std::unique_lock lock(mutex_);
    stop_ = true;
    wake_.notify_all();
    if (!prober_.joinable()) return;
    const bool ended = stopped_.wait_for(lock, kShutdownPatience, [&] { return !prober_running_; });
    prober = std::move(prober_);
    if (!ended) {
      // Inside a vendor call that does not return: the thread holds what it uses and ends when the call does.
      prober.detach();
      return;
    }
  }
  prober.join();
}

}  // namespace latebind::core
