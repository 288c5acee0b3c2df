#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/failover/placed_model_state.h"

namespace latebind::core {
namespace {

// A request with at least this much time that misses its deadline hints that an accelerator hangs.
constexpr std::chrono::milliseconds kTimeForAnyRun{1'000};

// How often a run is repeated that failed because another one spoiled the executable. The repetition may be spoiled
// again.
constexpr unsigned kRepeatsMax = 4;

// Windows may end a wait up to one tick of its clock early.
constexpr std::chrono::milliseconds kTick{16};

// The error for a request that no device could compute, with the message of a device that computes others.
Status request_is_at_fault(std::string_view device, const Status& status) {
  std::string message = fmt::format("{} works, but could not compute this request: {}", device, status.message());
  if (!status.vendor_code()) return {StatusCode::kInvalidArgument, std::move(message)};
  return Status::from_vendor(StatusCode::kInvalidArgument, std::move(message), *status.vendor_code(),
                             std::string(status.vendor_text()));
}

}  // namespace

// If the request that is let through to a resting device reveals nothing about it, the next one is let through.
class PlacedModel::State::LetThrough {
 public:
  LetThrough(State& state, const Pick& pick)
      : state_(state), slot_(pick.let_through ? pick.slot : nullptr), seen_(pick.openings) {}
  LetThrough(const LetThrough&) = delete;
  LetThrough& operator=(const LetThrough&) = delete;
  ~LetThrough() {
    if (slot_ != nullptr) state_.want_request(*slot_, seen_);
  }

 private:
  State& state_;
  Slot* const slot_;
  const std::uint64_t seen_;
};

// Walks through the candidates until one answers. The invariant: `misses` has every slot that was tried and did not
// answer, and pick() never returns one of those, so the loop ends. The exceptions are runs that another run has
// spoiled: their slot is tried again, at most kRepeatsMax times in all, and then the next one.
Status PlacedModel::State::execute(std::span<const TensorView> inputs, std::span<OutputTensor> outputs,
                                   const RunOptions& options, std::shared_ptr<const Attestation>* answered_by) {
  std::vector<Miss> misses;  // allocates only after a failure
  unsigned repeats = 0;
  for (;;) {
    Pick picked = pick(misses, PickFor::kRequest);
    if (picked.slot == nullptr) return no_answer_error(misses);
    Slot& slot = *picked.slot;
    const LetThrough let_through(*this, picked);
    if (!picked.executable) {
      auto loaded = load(slot, false, options);
      if (!loaded.ok()) {
        // The caller's time was up while the device was still loading. The load continues.
        if (is_of_the_call(loaded.status())) return loaded.status();
        if (is_device_fault(loaded.status())) {
          failed(slot, picked.openings, loaded.status());
        } else {
          refused(slot, loaded.status());
        }
        misses.push_back({&slot, picked.openings, Miss::Kind::kNotLoaded, loaded.status()});
        continue;
      }
      picked.executable = *std::move(loaded);
    }
    const auto began = Clock::now();
    Status status = run(slot, *picked.executable, inputs, outputs, options);
    if (status.ok()) {
      record_answer(picked, inputs, misses);
      if (answered_by != nullptr) {
        auto now = picked.attestation ? picked.attestation : attestation_of(slot, *picked.executable);
        for (const Miss& miss : misses)
          picked.passed_over.push_back(PlacementStep::refused(miss.slot->name, miss.status));
        *answered_by = picked.passed_over.empty() ? std::move(now) : attestation_after(*now, picked.passed_over);
      }
      return status;
    }
    if (picked.let_through && (is_device_fault(status) || status.code() == StatusCode::kDeadlineExceeded)) {
      failed(slot, picked.openings, status);
    }
    switch (status.code()) {
      case StatusCode::kDeadlineExceeded:
        if (slot.device->kind != DeviceKind::kCpu && options.deadline && *options.deadline - began >= kTimeForAnyRun) {
          missed_deadline(slot);
        }
        return status;
      case StatusCode::kBusy:
        if (!is_usable(picked.executable)) {
          if (repeats++ >= kRepeatsMax)
            misses.push_back({&slot, picked.openings, Miss::Kind::kUnable, std::move(status)});
          break;
        }
        if (slot.device->kind != DeviceKind::kCpu) suspect(slot);
        return status;
      case StatusCode::kUnsupported:
        misses.push_back({&slot, picked.openings, Miss::Kind::kUnable, std::move(status)});
        break;
      default: {
        if (!is_device_fault(status)) return status;
        misses.push_back({&slot, picked.openings, Miss::Kind::kFailed, std::move(status)});
        const auto limit = run_timeout_of(slot);
        misses.back().took_too_long = limit && Clock::now() + kTick >= began + *limit;
        judge(misses.back(), picked.executable, options);
        const Miss& miss = misses.back();
        const bool is_known_bad = miss.answer == Answer::kFails || miss.answer == Answer::kHangs;
        if (was_spoiled_by_another(*picked.executable, miss.status) && !is_known_bad && repeats++ < kRepeatsMax) {
          misses.pop_back();
        }
      }
    }
  }
}

// Returns the first candidate that is thought to work and was not tried, or one before it that waits for a request to
// test it; if there is neither, the first resting one.
PlacedModel::State::Pick PlacedModel::State::pick(const std::vector<Miss>& misses, PickFor purpose) {
  std::vector<Candidates::Index> tried;
  for (const Miss& miss : misses)
    tried.push_back(miss.slot->index);
  Pick pick;
  {
    const MutexLock lock(mutex_);
    const auto picked = candidates_.pick(tried, purpose);
    if (!picked) return pick;
    Slot& slot = slots_[picked->index];
    pick = {&slot, picked->openings, picked->let_through, slot.executable, slot.attestation, {}};
    if (!is_usable(pick.executable)) {
      pick.executable = nullptr;
      pick.attestation = nullptr;
      pick.passed_over = candidates_.refusals_before(slot.index);
    }
  }
  if (pick.executable && !pick.attestation) pick.attestation = attestation_of(*pick.slot, *pick.executable);
  return pick;
}

void PlacedModel::State::record_answer(const Pick& by, std::span<const TensorView> inputs,
                                       const std::vector<Miss>& misses) {
  Slot& slot = *by.slot;
  remember_shapes(slot, inputs);
  Success success = Success::kStale;
  {
    const MutexLock lock(mutex_);
    success = candidates_.answer(slot.index, by.openings);
    if (success != Success::kStale) forget_attestations();
  }
  report(slot, success);
  // A device is at fault if it could not be checked and failed on a request that this one computed.
  for (const Miss& miss : misses) {
    if (miss.kind == Miss::Kind::kFailed && miss.answer == Answer::kNotAskable) {
      failed(*miss.slot, miss.openings, miss.status);
    }
  }
}

Status PlacedModel::State::no_answer_error(const std::vector<Miss>& misses) const {
  using Kind = Miss::Kind;
  if (!misses.empty() && std::ranges::all_of(misses, [](const Miss& miss) { return miss.kind == Kind::kUnable; })) {
    return misses.front().status;
  }
  // A device that lacked memory, for the model or for the run, might have computed the request, and may do so later.
  for (const Miss& miss : misses) {
    if (miss.status.code() == StatusCode::kOutOfMemory) return miss.status;
  }
  for (const Miss& miss : misses) {
    // If a run took too long, the machine may have been busy.
    if (miss.kind == Kind::kFailed && miss.answer == Answer::kWorks && !miss.took_too_long) {
      return request_is_at_fault(miss.slot->name, miss.status);
    }
  }
  std::vector<PlacementStep> steps;
  for (const Miss& miss : misses)
    steps.push_back(PlacementStep::refused(miss.slot->name, miss.status));
  return Status(StatusCode::kDeviceFailed, fmt::format("{}{} failed on every device that it may use: {}",
                                                       strict_ ? "strict: " : "", model_name_, listed(steps)))
      .with_details(details_of(steps));
}

std::shared_ptr<const Attestation> PlacedModel::State::attestation_of(Slot& slot, const Executable& executable) {
  const MutexLock lock(mutex_);
  if (slot.attestation) return slot.attestation;
  auto made = std::make_shared<Attestation>();
  made->active = executable.active();
  made->verification = executable.verification();
  made->steps = candidates_.refusals_before(slot.index);
  made->conclude(slot.name, executable.passed_over());
  slot.attestation = made;
  return made;
}

// Returns the attestation for a request that passed over the devices in `met`. Their state may have changed since then,
// but it is the reason for this answer.
std::shared_ptr<const Attestation> PlacedModel::State::attestation_after(const Attestation& now,
                                                                         const std::vector<PlacementStep>& met) const {
  auto made = std::make_shared<Attestation>(now);
  made->steps.clear();
  made->reason.clear();
  const std::string& taken = now.steps.back().device;
  const std::string& passed_over = now.steps.back().reason;
  for (const Slot& slot : slots_) {
    if (slot.name == taken) break;
    const auto is_it = [&](const PlacementStep& step) { return step.device == slot.name; };
    // The last state that the request saw, or else the known one.
    if (const auto seen = std::find_if(met.rbegin(), met.rend(), is_it); seen != met.rend()) {
      made->steps.push_back(*seen);
    } else if (const auto known = std::ranges::find_if(now.steps, is_it); known != now.steps.end()) {
      made->steps.push_back(*known);
    }
  }
  made->conclude(taken, passed_over);
  return made;
}

Status PlacedModel::State::run(const Slot& slot, Executable& executable, std::span<const TensorView> inputs,
                               std::span<OutputTensor> outputs, const RunOptions& options) const {
  RunOptions limited = options;
  limited.run_timeout = run_timeout_of(slot);
  return executable.execute(inputs, outputs, limited);
}

}  // namespace latebind::core
