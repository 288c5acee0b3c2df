#include "core/failover/placed_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/failover/placed_model_state.h"
#include "core/log.h"
#include "core/platform/process_generation.h"

namespace latebind::core {
namespace {

bool same_tensors(std::span<const TensorInfo> a, std::span<const TensorInfo> b) {
  return std::ranges::equal(a, b, [](const TensorInfo& x, const TensorInfo& y) {
    return x.name == y.name && x.type == y.type && x.shape.rank() == y.shape.rank();
  });
}

}  // namespace

Status PlacedModel::State::place(std::vector<Placement::Candidate> candidates, const RunOptions& limits) {
  std::vector<StatusCode> load_codes;
  bool placed = false;
  for (Placement::Candidate& candidate : candidates) {
    if (strict_ && placed) break;
    if (strict_ && !slots_.empty()) {
      const auto steps = refusals();
      return Status(StatusCode::kStrictFallback, fmt::format("strict: only a fallback device of '{}' could answer: {}",
                                                             placement_text_, listed(steps)))
          .with_details(details_of(steps));
    }
    if (!candidate.device) {
      slots_.emplace_back(slots_.size(), candidate.refusal.device, std::nullopt);
      const MutexLock lock(mutex_);
      candidates_.add_refused(std::move(candidate.refusal));
      continue;
    }
    const std::string name = candidate.device->id();
    Slot& slot = slots_.emplace_back(slots_.size(), name, std::move(candidate.device));
    {
      const MutexLock lock(mutex_);
      candidates_.add(name);
    }
    if (placed) continue;
    const auto loaded = load(slot, false, limits);
    if (is_of_the_call(loaded.status())) return loaded.status();
    if (loaded.ok()) {
      placed = true;
      continue;
    }
    load_codes.push_back(loaded.status().code());
    log(LogLevel::kDebug, fmt::format("{} refused {}: {}", name, model_name_, loaded.status().to_string()));
    const MutexLock lock(mutex_);
    if (is_device_fault(loaded.status())) {
      (void)candidates_.fail(slot.index, candidates_.openings(slot.index), loaded.status(), Clock::now());
    } else {
      candidates_.refuse(slot.index, loaded.status());
    }
  }
  if (placed) {
    bool any_rests = false;
    {
      const MutexLock lock(mutex_);
      any_rests = candidates_.any_rests();
    }
    if (any_rests) wake_prober();
    return {};
  }
  // If every device that tried reports the same fault of the caller's model, blob or options, or a lack of memory, that
  // is the result. Otherwise the machine is at fault.
  StatusCode code = StatusCode::kNoDevice;
  if (!load_codes.empty() && (is_of_the_model(load_codes.front()) || load_codes.front() == StatusCode::kOutOfMemory) &&
      std::ranges::all_of(load_codes, [&](StatusCode c) { return c == load_codes.front(); })) {
    code = load_codes.front();
  }
  const auto steps = refusals();
  return Status(code, fmt::format("no device of '{}' can run {}: {}", placement_text_, model_name_,
                                  slots_.empty() ? "no device is available" : listed(steps)))
      .with_details(details_of(steps));
}

std::shared_ptr<const Attestation> PlacedModel::State::attestation() {
  Pick picked = pick({}, PickFor::kReport);
  if (picked.attestation) return picked.attestation;
  auto made = std::make_shared<Attestation>();
  // The device that would answer is not loaded yet: report it without loading.
  if (picked.slot != nullptr) {
    made->active.backend = picked.slot->device->backend;
    made->active.device = picked.slot->device->name;
    made->active.device_full_name = picked.slot->device->full_name;
    made->active.runtime_version = picked.slot->device->runtime_version;
  }
  const MutexLock lock(mutex_);
  made->steps = candidates_.refusals();
  made->fallback = !made->steps.empty();
  made->reason = listed_briefly(made->steps);
  return made;
}

DeviceKind PlacedModel::State::device_kind() {
  const Pick picked = pick({}, PickFor::kReport);
  return picked.slot == nullptr ? DeviceKind::kOther : picked.slot->device->kind;
}

std::size_t PlacedModel::State::hung_runs() const {
  std::vector<std::shared_ptr<Executable>> executables;
  {
    const MutexLock lock(mutex_);
    for (const Slot& slot : slots_) {
      if (slot.executable) executables.push_back(slot.executable);
    }
  }
  std::size_t sum = 0;
  for (const auto& executable : executables)
    sum += executable->hung_runs();
  return sum;
}

Status PlacedModel::State::prepare() {
  Pick picked = pick({}, PickFor::kReport);
  if (picked.slot == nullptr) return Status(StatusCode::kNoDevice, fmt::format("no device for {}", model_name_));
  if (!picked.executable) {
    LB_ASSIGN_OR_RETURN(picked.executable, load(*picked.slot, false, {}));
  }
  return picked.executable->prepare();
}

// Returns the slot's executable, or loads it. A load that is in progress is shared. The caller waits as long as
// `limits` allow and as long as a load may take on this device; the load continues after the caller has left.
Result<std::shared_ptr<Executable>> PlacedModel::State::load(Slot& slot, bool anew, const RunOptions& limits) {
  RunOptions until = limits;
  until.run_timeout = load_timeout_of(options_, slot.device->kind);
  if (!until.is_bounded()) return load_now(slot, anew);
  std::shared_ptr<VendorCall> call;
  {
    const MutexLock lock(mutex_);
    if (!anew && is_usable(slot.executable)) return slot.executable;
    if (!slot.pending_load || slot.pending_load->has_returned()) {
      auto started = VendorCall::start(
          slot.name, [self = shared_from_this(), &slot, anew] { return self->load_now(slot, anew).status(); });
      if (!started.ok()) {
        if (limits.is_bounded()) return started.status();
        const MutexUnlock unlocked(mutex_);
        return load_now(slot, anew);
      }
      slot.pending_load = *std::move(started);
    }
    call = slot.pending_load;
  }
  switch (call->wait(until)) {
    case VendorCall::End::kReturned:
      break;
    case VendorCall::End::kDeadline:
      return Status(StatusCode::kDeadlineExceeded,
                    fmt::format("{} was still loading {} at the deadline", slot.name, model_name_));
    case VendorCall::End::kCancelled:
      return Status(StatusCode::kCancelled, fmt::format("cancelled while {} was loading {}", slot.name, model_name_));
    case VendorCall::End::kTimeout:
      return Status(StatusCode::kDeviceFailed, fmt::format("{} did not finish loading {} within {} ms", slot.name,
                                                           model_name_, until.run_timeout->count()));
  }
  LB_RETURN_IF_ERROR(call->status());
  {
    const MutexLock lock(mutex_);
    if (slot.executable) return slot.executable;
  }
  return load(slot, anew, limits);  // a run has spoiled it already, and it was removed
}

// Takes as long as the vendor does.
Result<std::shared_ptr<Executable>> PlacedModel::State::load_now(Slot& slot, bool anew) {
  const LogHold hold;
  const MutexLock loading(slot.loading);
  bool is_spoiled = false;
  {
    const MutexLock lock(mutex_);
    if (!anew && is_usable(slot.executable)) return slot.executable;  // another request was faster
    is_spoiled = slot.executable && !is_usable(slot.executable);
  }
  if (is_spoiled) {
    log(LogLevel::kInfo, fmt::format("{} reloads {}: a failed run left it unusable", slot.name, model_name_));
  }
  unload(slot);  // before another one is loaded
  LB_ASSIGN_OR_RETURN(auto made, load_(*slot.device));
  std::shared_ptr<Executable> executable = std::move(made);
  const MutexLock lock(mutex_);
  if (inputs_.empty() && outputs_.empty()) {
    inputs_.assign(executable->inputs().begin(), executable->inputs().end());
    outputs_.assign(executable->outputs().begin(), executable->outputs().end());
  } else if (!same_tensors(inputs_, executable->inputs()) || !same_tensors(outputs_, executable->outputs())) {
    candidates_.retire(slot.index);
    return Status(
        StatusCode::kInternal,
        fmt::format("{} declares different inputs or outputs for {} than the first device", slot.name, model_name_));
  }
  slot.executable = executable;
  slot.attestation = nullptr;
  return executable;
}

// Drops the executable. A vendor may keep a lost device as long as any object on it exists (WebGPU's provider does); a
// model loaded beside that object would be on the lost device, too.
void PlacedModel::State::unload(Slot& slot) {
  std::shared_ptr<Executable> last;
  const MutexLock lock(mutex_);
  last.swap(slot.executable);
  slot.attestation = nullptr;
}

std::vector<PlacementStep> PlacedModel::State::refusals() const {
  const MutexLock lock(mutex_);
  return candidates_.refusals();
}

std::optional<std::chrono::milliseconds> PlacedModel::State::run_timeout_of(const Slot& slot) const {
  return core::run_timeout_of(options_, slot.device->kind);
}

std::optional<std::chrono::milliseconds> run_timeout_of(const FailoverOptions& options, DeviceKind kind) {
  if (options.run_timeout) {
    if (options.run_timeout->count() == 0) return std::nullopt;
    return options.run_timeout;
  }
  if (kind == DeviceKind::kCpu) return std::nullopt;
  return kAcceleratorRunTimeout;
}

std::optional<std::chrono::milliseconds> load_timeout_of(const FailoverOptions& options, DeviceKind kind) {
  if (options.load_timeout) {
    if (options.load_timeout->count() == 0) return std::nullopt;
    return options.load_timeout;
  }
  if (kind == DeviceKind::kCpu && platform::process_generation() == 0) return std::nullopt;
  return kAcceleratorLoadTimeout;
}

PlacedModel::PlacedModel(std::shared_ptr<State> state) : state_(std::move(state)) {}

PlacedModel::~PlacedModel() {
  state_->stop();
}

Result<std::shared_ptr<PlacedModel>> PlacedModel::place(std::string model_name, const Placement& placement,
                                                        std::vector<Placement::Candidate> candidates, Loader load,
                                                        bool strict, const FailoverOptions& options,
                                                        const RunOptions& limits) {
  auto state = std::make_shared<State>(std::move(model_name), placement.text(), std::move(load), strict, options);
  // From here on the model's destructor ends the prober on every path; that thread keeps the state alive.
  std::shared_ptr<PlacedModel> model(new PlacedModel(state));
  LB_RETURN_IF_ERROR(state->place(std::move(candidates), limits));
  if (options.warm_standby && !strict) state->start_standby();
  return model;
}

std::span<const TensorInfo> PlacedModel::inputs() const {
  return state_->inputs();
}

std::span<const TensorInfo> PlacedModel::outputs() const {
  return state_->outputs();
}

std::shared_ptr<const Attestation> PlacedModel::attestation() const {
  return state_->attestation();
}

DeviceKind PlacedModel::device_kind() const {
  return state_->device_kind();
}

std::size_t PlacedModel::hung_runs() const {
  return state_->hung_runs();
}

Status PlacedModel::prepare() {
  return state_->prepare();
}

Status PlacedModel::execute(std::span<const TensorView> inputs, std::span<OutputTensor> outputs,
                            const RunOptions& options, std::shared_ptr<const Attestation>* answered_by) {
  const LogHold hold;  // for loads under a lock, and for what the vendor logs meanwhile
  return state_->execute(inputs, outputs, options, answered_by);
}

}  // namespace latebind::core
