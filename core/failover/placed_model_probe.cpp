// What the background thread does: it loads a standby, checks suspects and probes resting devices.
#include <utility>

#include "core/failover/placed_model_state.h"

namespace latebind::core {

void PlacedModel::State::wake_prober() {
  prober_.wake(shared_from_this());
}

void PlacedModel::State::start_standby() {
  {
    const MutexLock lock(mutex_);
    candidates_.want_standby();
  }
  wake_prober();
}

void PlacedModel::State::stop() {
  leaving_.request();
  prober_.stop();
}

// Does one task without the lock. Returns when the next one is due.
std::optional<PlacedModel::State::Clock::time_point> PlacedModel::State::do_next_task() {
  Task task;
  {
    const MutexLock lock(mutex_);
    task = candidates_.next_task(Clock::now(), [&](Candidates::Index i) { return slots_[i].executable != nullptr; });
  }
  if (task.kind == Task::Kind::kWait) return task.until;
  Slot& slot = slots_[task.index];
  switch (task.kind) {
    case Task::Kind::kLoad:
      load_standby(slot, task.openings);
      break;
    case Task::Kind::kCheck:
      check_suspect(slot, task.openings);
      break;
    case Task::Kind::kProbe:
      try {
        probe(slot, task.openings);
      } catch (...) {
        const MutexLock lock(mutex_);
        candidates_.end_probe(slot.index, Clock::now());
        throw;
      }
      break;
    case Task::Kind::kWait:
      break;
  }
  return Clock::now();
}

void PlacedModel::State::load_standby(Slot& slot, std::uint64_t openings) {
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

}  // namespace latebind::core
