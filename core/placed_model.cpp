#include "core/placed_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <deque>
#include <iterator>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>

#include "core/log.h"

namespace latebind::core {
namespace {

using Clock = Breaker::Clock;

// Inputs larger than this are not kept for probing: the probe then only loads the model.
constexpr std::size_t kSampleBytesMax = std::size_t{64} << 20;

// How long a probe may run on a device that has no run timeout.
constexpr std::chrono::milliseconds kProbeTimeout{60'000};

// How long destruction waits for a probe that is inside a vendor call.
constexpr std::chrono::milliseconds kShutdownPatience{2'000};

// A caller's deadline is his own affair. But when so many requests in a row, each with that much time for its run, did
// not come back before theirs, an accelerator hangs: it is probed, and rests meanwhile.
constexpr unsigned kLateRunsToSuspect = 3;
constexpr std::chrono::milliseconds kTimeForAnyRun{1'000};

// True when another device may succeed where this one failed.
bool is_device_fault(const Status& status) {
  switch (band_of(status.code())) {
    case StatusBand::kOk:
    case StatusBand::kCaller:
      return false;
    case StatusBand::kEnvironment:
    case StatusBand::kInternal:
      return true;
    case StatusBand::kResource:
      return status.code() == StatusCode::kDeviceFailed || status.code() == StatusCode::kOutOfMemory;
  }
  return true;
}

// From the steps that were passed over to the whole story of who answers.
void conclude(Attestation& attestation, const std::string& taken) {
  attestation.fallback = !attestation.steps.empty();
  if (attestation.fallback) {
    attestation.reason = fmt::format("using {}, because {}", taken, listed_briefly(attestation.steps));
  }
  attestation.steps.push_back(PlacementStep::taken_by(taken));
}

bool same_tensors(std::span<const TensorInfo> a, std::span<const TensorInfo> b) {
  return std::ranges::equal(a, b, [](const TensorInfo& x, const TensorInfo& y) {
    return x.name == y.name && x.type == y.type && x.shape.rank() == y.shape.rank();
  });
}

// A copy of a request's inputs that outlives it.
class Sample {
 public:
  // Null when the inputs are too large to keep.
  static std::shared_ptr<const Sample> of(std::span<const TensorView> inputs) {
    auto sample = std::make_shared<Sample>();
    std::size_t total = 0;
    for (const TensorView& input : inputs) {
      const auto bytes = byte_size_of(input.type, input.shape);
      if (!bytes.ok() || (total += *bytes) > kSampleBytesMax) return nullptr;
      auto& buffer = sample->buffers_.emplace_back(std::max<std::size_t>(*bytes, 1));
      if (!input.copy_to_contiguous(buffer.data()).ok()) return nullptr;
      sample->views_.push_back({buffer.data(), input.type, input.shape, {}});
    }
    return sample;
  }
  [[nodiscard]] std::span<const TensorView> views() const { return views_; }

 private:
  std::deque<std::vector<std::byte>> buffers_;
  std::vector<TensorView> views_;
};

}  // namespace

class PlacedModel::State : public std::enable_shared_from_this<PlacedModel::State> {
 public:
  State(std::string model_name, std::string placement_text, Loader load, bool strict, const FailoverOptions& options)
      : model_name_(std::move(model_name)),
        placement_text_(std::move(placement_text)),
        load_(std::move(load)),
        strict_(strict),
        options_(options) {}

  Status place(std::vector<Placement::Candidate> candidates);
  Status execute(std::span<const TensorView> inputs, std::span<OutputTensor> outputs, const RunOptions& options,
                 std::shared_ptr<const Attestation>* answered_by);
  std::shared_ptr<const Attestation> attestation();
  Status prepare();
  void start_standby();
  void stop();

  [[nodiscard]] std::span<const TensorInfo> inputs() const { return inputs_; }
  [[nodiscard]] std::span<const TensorInfo> outputs() const { return outputs_; }

 private:
  // A load that requests with deadlines wait for.
  struct PendingLoad {
    std::optional<Result<std::shared_ptr<Executable>>> outcome;  // guarded by State::mutex_
  };

  // One place in the order: a device, or a refusal that stands there for ever.
  struct Slot {
    Slot(std::string slot_name, std::optional<Device> slot_device, const BreakerPolicy& policy)
        : name(std::move(slot_name)), device(std::move(slot_device)), breaker(policy) {}

    const std::string name;
    const std::optional<Device> device;
    Breaker breaker;
    std::atomic<bool> has_failed{false};  // since it last worked
    std::atomic<unsigned> late_runs{0};   // in a row
    std::mutex loading;                   // held while this slot's executable is made
    // Guarded by State::mutex_.
    bool out_of_rotation = false;          // refused for good
    std::optional<PlacementStep> refusal;  // why it is passed over; nothing while it works
    std::shared_ptr<Executable> executable;
    std::shared_ptr<const Attestation> attestation;  // made when first asked for after a change
    std::shared_ptr<const Sample> sample;            // what it is probed with: what it failed on, or a later request
    std::shared_ptr<PendingLoad> pending_load;       // in a thread of its own
  };

  struct Pick {
    Slot* slot = nullptr;
    std::uint64_t openings = 0;  // of the slot's breaker, when it was picked
    std::shared_ptr<Executable> executable;
    std::shared_ptr<const Attestation> attestation;
    std::vector<PlacementStep> passed_over;  // when the executable is still to be loaded
  };

  // Whose time was up, when a run ended for lack of it.
  enum class OutOfTime { kNobody, kImpatientCaller, kCaller, kDevice };

  Pick pick(const std::vector<const Slot*>& tried);
  std::shared_ptr<const Attestation> attestation_of(Slot& slot, const Executable& executable);
  std::shared_ptr<const Attestation> as_met(const Attestation& now, const std::vector<PlacementStep>& met) const;
  Result<std::shared_ptr<Executable>> load(Slot& slot, bool anew);
  Result<std::shared_ptr<Executable>> load_until(Slot& slot, const std::optional<Clock::time_point>& deadline);
  Status run(const Slot& slot, Executable& executable, std::span<const TensorView> inputs,
             std::span<OutputTensor> outputs, const RunOptions& options, OutOfTime& out_of_time) const;
  void refused(Slot& slot, const Status& status);
  void failed(Slot& slot, std::uint64_t openings, const Status& status, const std::span<const TensorView>* inputs);
  void succeeded(Slot& slot, std::uint64_t openings);
  void keep_sample(std::span<const TensorView> inputs);
  void changed();
  void ensure_prober();
  void probe_for_ever();
  Status probe(Slot& slot);
  [[nodiscard]] std::optional<std::chrono::milliseconds> run_timeout_of(const Slot& slot) const;
  [[nodiscard]] std::vector<PlacementStep> refusals() const;

  // Constant after place().
  const std::string model_name_;
  const std::string placement_text_;
  const Loader load_;
  const bool strict_;
  const FailoverOptions options_;
  std::deque<Slot> slots_;
  std::vector<TensorInfo> inputs_;
  std::vector<TensorInfo> outputs_;

  // Some resting device has nothing to be probed with: the next request that succeeds leaves a copy of its inputs.
  std::atomic<bool> sample_wanted_{false};

  mutable std::mutex mutex_;
  // Guarded by mutex_.
  std::condition_variable wake_;
  std::condition_variable stopped_;
  std::condition_variable loaded_;
  std::thread prober_;
  bool prober_running_ = false;
  bool stop_ = false;
  bool standby_wanted_ = false;
};

Status PlacedModel::State::place(std::vector<Placement::Candidate> candidates) {
  std::vector<StatusCode> load_codes;
  bool placed = false;
  for (Placement::Candidate& candidate : candidates) {
    if (strict_ && placed) break;
    if (strict_ && !slots_.empty()) {
      return Status(StatusCode::kStrictFallback, fmt::format("strict: '{}' could only be served by a fallback: {}",
                                                             placement_text_, listed(refusals())));
    }
    if (!candidate.device) {
      Slot& slot = slots_.emplace_back(candidate.refusal.device, std::nullopt, options_.breaker);
      slot.out_of_rotation = true;
      slot.refusal = std::move(candidate.refusal);
      continue;
    }
    const std::string name = candidate.device->id();
    Slot& slot = slots_.emplace_back(name, std::move(candidate.device), options_.breaker);
    if (placed) continue;
    const auto loaded = load(slot, false);
    if (loaded.ok()) {
      placed = true;
      continue;
    }
    load_codes.push_back(loaded.status().code());
    slot.refusal = PlacementStep::refused(name, loaded.status());
    if (is_device_fault(loaded.status())) {
      slot.has_failed.store(true, std::memory_order_relaxed);
      slot.breaker.failed(Clock::now());
      sample_wanted_.store(true, std::memory_order_relaxed);
    } else {
      slot.out_of_rotation = true;
    }
    log(LogLevel::kDebug, fmt::format("{} refused {}: {}", name, model_name_, slot.refusal->reason));
  }
  if (placed) {
    if (std::ranges::any_of(slots_, [](const Slot& slot) { return !slot.breaker.is_closed(); })) ensure_prober();
    return {};
  }
  // When every device that tried says the same about the caller's model or options, that is the answer; else the
  // machine is at fault.
  StatusCode code = StatusCode::kNoDevice;
  if (!load_codes.empty() && band_of(load_codes.front()) == StatusBand::kCaller &&
      std::ranges::all_of(load_codes, [&](StatusCode c) { return c == load_codes.front(); })) {
    code = load_codes.front();
  }
  return Status(code, fmt::format("no device of '{}' can run {}: {}", placement_text_, model_name_,
                                  slots_.empty() ? "there is none here" : listed(refusals())));
}

Status PlacedModel::State::execute(std::span<const TensorView> inputs, std::span<OutputTensor> outputs,
                                   const RunOptions& options, std::shared_ptr<const Attestation>* answered_by) {
  std::vector<const Slot*> tried;  // allocates only after a failure
  std::vector<PlacementStep> failures;
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
    } else {
      return status;
    }
    failures.push_back(PlacementStep::refused(slot.name, status));
    tried.push_back(&slot);
  }
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
  conclude(*made, slot.name);
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
  conclude(*made, taken);
  return made;
}

std::shared_ptr<const Attestation> PlacedModel::State::attestation() {
  Pick picked = pick({});
  if (picked.attestation) return picked.attestation;
  // Who would answer is still to be loaded: say so without loading it.
  auto made = std::make_shared<Attestation>();
  if (picked.slot != nullptr) {
    made->active.backend = picked.slot->device->backend;
    made->active.device = picked.slot->device->name;
    made->active.device_full_name = picked.slot->device->full_name;
    made->active.runtime_version = picked.slot->device->runtime_version;
  }
  const std::lock_guard lock(mutex_);
  made->steps = refusals();
  made->fallback = !made->steps.empty();
  made->reason = listed_briefly(made->steps);
  return made;
}

Status PlacedModel::State::prepare() {
  Pick picked = pick({});
  if (picked.slot == nullptr) return Status(StatusCode::kNoDevice, fmt::format("no device for {}", model_name_));
  if (!picked.executable) {
    LB_ASSIGN_OR_RETURN(picked.executable, load(*picked.slot, false));
  }
  return picked.executable->prepare();
}

Result<std::shared_ptr<Executable>> PlacedModel::State::load(Slot& slot, bool anew) {
  const std::lock_guard loading(slot.loading);
  if (!anew) {
    const std::lock_guard lock(mutex_);
    if (slot.executable) return slot.executable;  // another request was faster
  }
  LB_ASSIGN_OR_RETURN(auto made, load_(*slot.device));
  std::shared_ptr<Executable> executable = std::move(made);
  const std::lock_guard lock(mutex_);
  if (inputs_.empty() && outputs_.empty()) {
    inputs_.assign(executable->inputs().begin(), executable->inputs().end());
    outputs_.assign(executable->outputs().begin(), executable->outputs().end());
  } else if (!same_tensors(inputs_, executable->inputs()) || !same_tensors(outputs_, executable->outputs())) {
    slot.out_of_rotation = true;
    return Status(
        StatusCode::kInternal,
        fmt::format("{} declares other inputs or outputs for {} than the first device did", slot.name, model_name_));
  }
  slot.executable = executable;
  slot.attestation = nullptr;
  return executable;
}

// As load(), but a compiler that takes its time, or for ever, keeps nobody beyond his deadline.
Result<std::shared_ptr<Executable>> PlacedModel::State::load_until(Slot& slot,
                                                                   const std::optional<Clock::time_point>& deadline) {
  if (!deadline) return load(slot, false);
  std::unique_lock lock(mutex_);
  if (slot.executable) return slot.executable;
  if (!slot.pending_load) {
    slot.pending_load = std::make_shared<PendingLoad>();
    try {
      std::thread([self = shared_from_this(), &slot, pending = slot.pending_load] {
        auto outcome = self->load(slot, false);
        const std::lock_guard done(self->mutex_);
        pending->outcome = std::move(outcome);
        slot.pending_load = nullptr;
        self->loaded_.notify_all();
      }).detach();
    } catch (const std::system_error&) {
      // The system has no thread to give.
      slot.pending_load = nullptr;
      lock.unlock();
      return load(slot, false);
    }
  }
  const auto pending = slot.pending_load;
  if (loaded_.wait_until(lock, *deadline, [&] { return pending->outcome.has_value(); })) return *pending->outcome;
  return Status(StatusCode::kDeadlineExceeded,
                fmt::format("{} was still loading {} at the deadline", slot.name, model_name_));
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
    if (attempt.deadline && Clock::now() >= *attempt.deadline) {
      // It never ran, which is nobody's fault but the crowd's.
      out_of_time = first == OutOfTime::kDevice ? first : OutOfTime::kImpatientCaller;
    }
    return status;
  }
  out_of_time = first;
  if (first != OutOfTime::kDevice) return status;
  return Status(StatusCode::kDeviceFailed, fmt::format("hung: {}", status.message()));
}

// For good: the device works, and will never take this model or these options.
void PlacedModel::State::refused(Slot& slot, const Status& status) {
  const std::lock_guard lock(mutex_);
  slot.out_of_rotation = true;
  slot.refusal = PlacementStep::refused(slot.name, status);
  changed();
}

// `openings`: of the slot's breaker, when what failed began. `inputs`: what it failed on, or null when it was no
// request that failed.
void PlacedModel::State::failed(Slot& slot, std::uint64_t openings, const Status& status,
                                const std::span<const TensorView>* inputs) {
  auto sample = inputs != nullptr && slot.breaker.is_closed() ? Sample::of(*inputs) : nullptr;
  {
    const std::lock_guard lock(mutex_);
    const bool opened = slot.breaker.failed_since(openings, Clock::now());
    if (!opened && slot.breaker.openings() != openings) return;  // judged since
    slot.has_failed.store(true, std::memory_order_relaxed);
    slot.refusal = PlacementStep::refused(slot.name, status);
    changed();
    if (!opened) return;
    if (sample) slot.sample = std::move(sample);
    if (!slot.sample) sample_wanted_.store(true, std::memory_order_relaxed);
  }
  log(LogLevel::kWarning, fmt::format("{} rests after a failure: {}", slot.name, status.to_string()));
  ensure_prober();
}

void PlacedModel::State::succeeded(Slot& slot, std::uint64_t openings) {
  bool rested = false;
  {
    const std::lock_guard lock(mutex_);
    rested = !slot.breaker.is_closed();
    if (!slot.breaker.succeeded_since(openings)) return;
    slot.has_failed.store(false, std::memory_order_relaxed);
    slot.refusal.reset();
    slot.sample = nullptr;
    changed();
  }
  if (rested) log(LogLevel::kWarning, fmt::format("{} works again", slot.name));
}

void PlacedModel::State::keep_sample(std::span<const TensorView> inputs) {
  if (!sample_wanted_.exchange(false, std::memory_order_relaxed)) return;
  const auto sample = Sample::of(inputs);
  const std::lock_guard lock(mutex_);
  for (Slot& slot : slots_) {
    if (!slot.sample && !slot.breaker.is_closed()) slot.sample = sample;
  }
}

// Under mutex_: every attestation may have to tell another story now.
void PlacedModel::State::changed() {
  for (Slot& slot : slots_)
    slot.attestation = nullptr;
}

std::vector<PlacementStep> PlacedModel::State::refusals() const {
  std::vector<PlacementStep> steps;
  for (const Slot& slot : slots_) {
    if (slot.refusal) steps.push_back(*slot.refusal);
  }
  return steps;
}

std::optional<std::chrono::milliseconds> PlacedModel::State::run_timeout_of(const Slot& slot) const {
  if (options_.run_timeout) {
    if (options_.run_timeout->count() == 0) return std::nullopt;
    return options_.run_timeout;
  }
  if (slot.device->kind == DeviceKind::kCpu) return std::nullopt;
  return kAcceleratorRunTimeout;
}

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
  std::shared_ptr<const Sample> sample;
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

PlacedModel::PlacedModel(std::shared_ptr<State> state) : state_(std::move(state)) {}

PlacedModel::~PlacedModel() {
  state_->stop();
}

Result<std::shared_ptr<PlacedModel>> PlacedModel::place(std::string model_name, const Placement& placement,
                                                        std::vector<Placement::Candidate> candidates, Loader load,
                                                        bool strict, const FailoverOptions& options) {
  auto state = std::make_shared<State>(std::move(model_name), placement.text(), std::move(load), strict, options);
  LB_RETURN_IF_ERROR(state->place(std::move(candidates)));
  if (options.warm_standby && !strict) state->start_standby();
  return std::shared_ptr<PlacedModel>(new PlacedModel(std::move(state)));
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

Status PlacedModel::prepare() {
  return state_->prepare();
}

Status PlacedModel::execute(std::span<const TensorView> inputs, std::span<OutputTensor> outputs,
                            const RunOptions& options, std::shared_ptr<const Attestation>* answered_by) {
  return state_->execute(inputs, outputs, options, answered_by);
}

}  // namespace latebind::core
