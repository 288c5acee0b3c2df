#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "core/log.h"
#include "core/placed_model_state.h"

namespace latebind::core {
namespace {

// A caller's deadline is his own affair. But when so many requests in a row, each with that much time for its run, did
// not come back before theirs, an accelerator hangs: it is probed, and rests meanwhile.
constexpr unsigned kLateRunsToSuspect = 3;
constexpr std::chrono::milliseconds kTimeForAnyRun{1'000};

// Windows ends a wait up to a tick of its clock before the time that was asked for.
constexpr std::chrono::milliseconds kTick{16};

}  // namespace

Status PlacedModel::State::execute(std::span<const TensorView> inputs, std::span<OutputTensor> outputs,
                                   const RunOptions& options, std::shared_ptr<const Attestation>* answered_by) {
  std::vector<const Slot*> tried;  // allocates only after a failure
  std::vector<PlacementStep> failures;
  std::size_t unable = 0;  // of them, those that work and can not do what this request asks
  Status first_unable;
  for (;;) {
    Pick picked = pick(tried);
    if (picked.slot == nullptr) break;
    Slot& slot = *picked.slot;
    if (!picked.executable) {
      auto loaded = load_until(slot, options.deadline);
      if (!loaded.ok()) {
        // The caller's deadline passed while the device was still loading, which goes on.
        if (loaded.status().code() == StatusCode::kDeadlineExceeded) return loaded.status();
        if (is_device_fault(loaded.status())) {
          failed(slot, picked.openings, loaded.status(), &inputs);
        } else {
          refused(slot, loaded.status());
        }
        failures.push_back(PlacementStep::refused(slot.name, loaded.status()));
        tried.push_back(&slot);
        continue;
      }
      picked.executable = *std::move(loaded);
    }
    OutOfTime out_of_time = OutOfTime::kNobody;
    Status status = run(slot, *picked.executable, inputs, outputs, options, out_of_time);
    if (status.ok()) {
      if (slot.has_failed.load(std::memory_order_relaxed)) succeeded(slot, picked.openings);
      if (slot.late_runs.load(std::memory_order_relaxed) != 0) slot.late_runs.store(0, std::memory_order_relaxed);
      if (sample_wanted_.load(std::memory_order_relaxed)) keep_sample(inputs);
      if (answered_by != nullptr) {
        auto now = picked.attestation ? picked.attestation : attestation_of(slot, *picked.executable);
        std::ranges::move(failures, std::back_inserter(picked.passed_over));
        *answered_by = picked.passed_over.empty() ? std::move(now) : as_met(*now, picked.passed_over);
      }
      return status;
    }
    if (out_of_time == OutOfTime::kImpatientCaller) return status;
    if (out_of_time == OutOfTime::kCaller) {
      if (slot.late_runs.fetch_add(1, std::memory_order_relaxed) + 1 >= kLateRunsToSuspect) {
        slot.late_runs.store(0, std::memory_order_relaxed);
        failed(slot, picked.openings,
               Status(StatusCode::kDeviceFailed,
                      fmt::format("seems to hang: {} requests in a row were not answered by their deadlines",
                                  kLateRunsToSuspect)),
               &inputs);
      }
      return status;
    }
    if (status.code() == StatusCode::kBusy && out_of_time == OutOfTime::kDevice) {
      // It waited as long for a request as a run may take, which says nothing about the device: once more, unless
      // those who had the requests found that it hangs.
      if (slot.breaker.is_closed()) continue;
    } else if (is_device_fault(status)) {
      failed(slot, picked.openings, status, &inputs);
    } else if (status.code() == StatusCode::kUnsupported) {
      if (unable++ == 0) first_unable = status;
    } else {
      return status;
    }
    failures.push_back(PlacementStep::refused(slot.name, status));
    tried.push_back(&slot);
  }
  if (unable > 0 && unable == failures.size()) return first_unable;
  return Status(StatusCode::kDeviceFailed, fmt::format("{}{} failed on every device that it may run on: {}",
                                                       strict_ ? "strict: " : "", model_name_, listed(failures)));
}

// The first candidate that is thought to work and was not tried; when none is left, the first that rests.
PlacedModel::State::Pick PlacedModel::State::pick(const std::vector<const Slot*>& tried) {
  const auto usable = [&](const Slot& slot) {
    return !slot.out_of_rotation && std::ranges::find(tried, &slot) == tried.end();
  };
  Pick pick;
  {
    const std::lock_guard lock(mutex_);
    for (Slot& slot : slots_) {
      if (usable(slot) && slot.breaker.is_closed()) {
        pick = {&slot, slot.breaker.openings(), slot.executable, slot.attestation, {}};
        break;
      }
    }
    if (pick.slot == nullptr) {
      for (Slot& slot : slots_) {
        if (usable(slot)) {
          pick = {&slot, slot.breaker.openings(), slot.executable, slot.attestation, {}};
          break;
        }
      }
    }
    if (pick.slot != nullptr && !pick.executable) {
      for (const Slot& slot : slots_) {
        if (&slot == pick.slot) break;
        if (slot.refusal) pick.passed_over.push_back(*slot.refusal);
      }
    }
  }
  if (pick.executable && !pick.attestation) pick.attestation = attestation_of(*pick.slot, *pick.executable);
  return pick;
}

std::shared_ptr<const Attestation> PlacedModel::State::attestation_of(Slot& slot, const Executable& executable) {
  const std::lock_guard lock(mutex_);
  if (slot.attestation) return slot.attestation;
  auto made = std::make_shared<Attestation>();
  made->active = executable.active();
  for (const Slot& earlier : slots_) {
    if (&earlier == &slot) break;
    if (earlier.refusal) made->steps.push_back(*earlier.refusal);
  }
  made->conclude(slot.name);
  slot.attestation = made;
  return made;
}

// The attestation of a request that went past `met` on its way: what it failed on or found resting may have been taken
// back since, and is the reason all the same.
std::shared_ptr<const Attestation> PlacedModel::State::as_met(const Attestation& now,
                                                              const std::vector<PlacementStep>& met) const {
  auto made = std::make_shared<Attestation>(now);
  made->steps.clear();
  made->reason.clear();
  const std::string& taken = now.steps.back().device;
  for (const Slot& slot : slots_) {
    if (slot.name == taken) break;
    const auto is_it = [&](const PlacementStep& step) { return step.device == slot.name; };
    // The last that the request saw of it, else what is known of it.
    if (const auto seen = std::find_if(met.rbegin(), met.rend(), is_it); seen != met.rend()) {
      made->steps.push_back(*seen);
    } else if (const auto known = std::ranges::find_if(now.steps, is_it); known != now.steps.end()) {
      made->steps.push_back(*known);
    }
  }
  made->conclude(taken);
  return made;
}

Status PlacedModel::State::run(const Slot& slot, Executable& executable, std::span<const TensorView> inputs,
                               std::span<OutputTensor> outputs, const RunOptions& options,
                               OutOfTime& out_of_time) const {
  RunOptions attempt = options;
  OutOfTime first = OutOfTime::kImpatientCaller;
  if (options.deadline && slot.device->kind != DeviceKind::kCpu && *options.deadline - Clock::now() >= kTimeForAnyRun) {
    first = OutOfTime::kCaller;
  }
  if (const auto timeout = run_timeout_of(slot)) {
    const auto limit = Clock::now() + *timeout;
    if (!attempt.deadline || limit < *attempt.deadline) {
      attempt.deadline = limit;
      first = OutOfTime::kDevice;
    }
  }
  Status status = executable.execute(inputs, outputs, attempt);
  if (status.code() != StatusCode::kDeadlineExceeded && status.code() != StatusCode::kBusy) return status;
  if (status.code() == StatusCode::kBusy) {
    if (attempt.deadline && Clock::now() + kTick >= *attempt.deadline) {
      // It never ran, which is nobody's fault but the crowd's.
      out_of_time = first == OutOfTime::kDevice ? first : OutOfTime::kImpatientCaller;
    }
    return status;
  }
  out_of_time = first;
  if (first != OutOfTime::kDevice) return status;
  return Status(StatusCode::kDeviceFailed, fmt::format("hung: {}", status.message()));
}

void PlacedModel::State::keep_sample(std::span<const TensorView> inputs) {
  if (!sample_wanted_.exchange(false, std::memory_order_relaxed)) return;
  const auto sample = RequestSample::of(inputs);
  const std::lock_guard lock(mutex_);
  for (Slot& slot : slots_) {
    if (!slot.sample && !slot.breaker.is_closed()) slot.sample = sample;
  }
}

}  // namespace latebind::core
