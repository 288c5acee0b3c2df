// Decides what caused a failure: docs/decisions/0013-when-a-device-is-blamed.md.
//
// The idea: the caller's request is no evidence, because it may be wrong itself. Instead, ask() runs a made-up request
// of zeros, in shapes that the device has computed before. If the device fails on that, it is at fault and rests; if it
// works, the request was too much for it. If no such request is known, the outcome on other devices decides: a device
// that fails on a request which another one computes is at fault (record_answer()).
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/failover/placed_model_state.h"
#include "core/log.h"
#include "core/tensor/made_up_request.h"
#include "core/vendor/vendor_call.h"

namespace latebind::core {
namespace {

// A CPU has no run timeout, because it is slow at worst. This long counts as forever.
constexpr std::chrono::milliseconds kCpuAnswerTimeout{60'000};

std::shared_ptr<const std::vector<Shape>> smallest_shapes(std::span<const TensorInfo> inputs) {
  auto shapes = std::make_shared<std::vector<Shape>>();
  for (const TensorInfo& input : inputs) {
    Shape shape = input.shape;
    for (std::size_t i = 0; i < shape.rank(); ++i) {
      if (shape[i] == kDynamic) shape[i] = 1;
    }
    shapes->push_back(shape);
  }
  return shapes;
}

}  // namespace

bool is_of_the_model(StatusCode code) {
  return band_of(code) == StatusBand::kCaller || code == StatusCode::kIncompatibleBlob;
}

bool is_device_fault(const Status& status) {
  if (status.ok() || is_of_the_model(status.code())) return false;
  return band_of(status.code()) != StatusBand::kResource || status.code() == StatusCode::kDeviceFailed ||
         status.code() == StatusCode::kOutOfMemory;
}

bool is_usable(const std::shared_ptr<Executable>& executable) {
  return executable && executable->spoiled_by() == 0;
}

bool was_spoiled_by_another(const Executable& executable, const Status& failure) {
  const bool may_spoil = failure.code() == StatusCode::kOutOfMemory || failure.code() == StatusCode::kDeviceFailed;
  const std::size_t own = may_spoil ? 1 : 0;
  return executable.spoiled_by() > own;
}

// Keeps the shapes of the smallest run, because a made-up request with them costs least.
void PlacedModel::State::remember_shapes(Slot& slot, std::span<const TensorView> inputs) {
  std::size_t elements = 0;
  for (const TensorView& input : inputs) {
    const auto count = input.shape.element_count();
    if (!count.ok()) return;
    elements += *count;
  }
  // A run without elements proves nothing.
  if (elements == 0 || elements >= slot.known_elements.load(std::memory_order_relaxed)) return;
  auto shapes = std::make_shared<std::vector<Shape>>();
  for (const TensorView& input : inputs)
    shapes->push_back(input.shape);
  const MutexLock lock(mutex_);
  if (elements >= slot.known_elements.load(std::memory_order_relaxed)) return;
  slot.known_elements.store(elements, std::memory_order_relaxed);
  slot.known_shapes = std::move(shapes);
}

// Tests whether the device works. `caller` has the limits of the waiting caller, and `said` receives the reason of a
// failure. With `may_guess`, shapes are guessed if none are known.
PlacedModel::State::Answer PlacedModel::State::ask(const Slot& slot, Executable& executable, const RunOptions& caller,
                                                   Status* said, bool may_guess) {
  std::shared_ptr<const std::vector<Shape>> shapes;
  {
    const MutexLock lock(mutex_);
    shapes = slot.known_shapes;
  }
  // A model with static shapes computes no others. For open dimensions the guess is 1, which most operators accept: if
  // the device computes it, the device works; if it does not, the result says nothing.
  const bool is_guess = !shapes && !std::ranges::all_of(executable.inputs(), &Shape::is_static, &TensorInfo::shape);
  if (is_guess && !may_guess) return Answer::kNotAskable;
  if (!shapes) shapes = smallest_shapes(executable.inputs());
  const auto request = MadeUpRequest::make(executable.inputs(), *shapes);
  if (!request.ok()) return Answer::kNotAskable;
  std::vector<OutputTensor> outputs(outputs_.size());
  RunOptions options = caller;
  if (const auto run_timeout = run_timeout_of(slot))
    options.run_timeout = std::min(*run_timeout, options_.answer_timeout);
  options.deadline = Clock::now() + (options.run_timeout ? 2 * *options.run_timeout : kCpuAnswerTimeout);
  const bool caller_is_first = caller.deadline && *caller.deadline < *options.deadline;
  if (caller_is_first) options.deadline = caller.deadline;
  const auto began = Clock::now();
  Status status = executable.execute(request->views(), outputs, options);
  if (status.ok()) return Answer::kWorks;
  if (said != nullptr) *said = status;
  switch (status.code()) {
    case StatusCode::kBusy:
    case StatusCode::kCancelled:
      return Answer::kNone;
    case StatusCode::kDeadlineExceeded:
      return caller_is_first ? Answer::kNone : is_guess ? Answer::kNotAskable : Answer::kHangs;
    default:
      // If zeros are not valid input, the result says nothing.
      if (is_guess || !is_device_fault(status)) return Answer::kNotAskable;
      if (was_spoiled_by_another(executable, status)) return Answer::kNone;
      return options.run_timeout && Clock::now() - began >= *options.run_timeout ? Answer::kHangs : Answer::kFails;
  }
}

// Decides whether the miss is the device's fault. A device that does not answer rests from now on. If this cannot be
// decided here, the outcome of the request on other devices decides.
void PlacedModel::State::judge(Miss& miss, std::shared_ptr<Executable> executable, const RunOptions& caller) {
  if (!is_usable(executable)) {
    auto loaded = load(*miss.slot, false, caller);
    if (!loaded.ok()) {
      if (!is_of_the_call(loaded.status())) failed(*miss.slot, miss.openings, loaded.status());
      return;
    }
    executable = *std::move(loaded);
  }
  // A caller that has waited this long should not wait for a guess as well.
  miss.answer = ask(*miss.slot, *executable, caller, nullptr, !miss.took_too_long);
  if (miss.answer == Answer::kNone) {
    if (miss.took_too_long) {
      miss.answer = Answer::kHangs;  // it holds a run forever, and is too busy for a small one
    } else {
      suspect(*miss.slot);
    }
  }
  if (miss.answer == Answer::kFails || miss.answer == Answer::kHangs) failed(*miss.slot, miss.openings, miss.status);
  if (miss.answer == Answer::kWorks) {
    log(LogLevel::kInfo, fmt::format("{} works, but could not compute a request, which goes to the next device: {}",
                                     miss.slot->name, miss.status.to_string()));
  }
}

void PlacedModel::State::suspect(Slot& slot) {
  {
    const MutexLock lock(mutex_);
    if (!candidates_.suspect(slot.index, Clock::now())) return;
  }
  wake_prober();
}

void PlacedModel::State::missed_deadline(Slot& slot) {
  {
    const MutexLock lock(mutex_);
    if (!candidates_.miss_deadline(slot.index, Clock::now())) return;
  }
  wake_prober();
}

// Called on the background thread.
void PlacedModel::State::check_suspect(Slot& slot, std::uint64_t openings) {
  std::shared_ptr<Executable> executable;
  {
    const MutexLock lock(mutex_);
    executable = slot.executable;
  }
  if (!is_usable(executable)) return;  // the next request loads it again and shows whether it works
  Status said;
  Answer answer = ask(slot, *executable, {.cancellation = leaving_}, &said);
  if (leaving_.is_requested()) return;
  // It was too busy for a small run all that time, and answered no other request either: what occupies it does not end.
  if (answer == Answer::kNone && given_up_calls(slot.name) > 0) {
    const MutexLock lock(mutex_);
    if (!candidates_.has_answered(slot.index)) answer = Answer::kHangs;
  }
  if (answer != Answer::kFails && answer != Answer::kHangs) return;
  failed(slot, openings,
         Status(StatusCode::kDeviceFailed,
                fmt::format(
                    "seems to hang: requests were not answered by their deadlines, and neither was a small probe: {}",
                    said.brief())));
}

// Lets the next request through to a resting device, unless it was judged since it had opened `openings` times.
void PlacedModel::State::want_request(Slot& slot, std::uint64_t openings) {
  const MutexLock lock(mutex_);
  candidates_.want_request(slot.index, openings);
}

// Refuses the device permanently: it works, but will never take this model or these options.
void PlacedModel::State::refused(Slot& slot, const Status& status) {
  const MutexLock lock(mutex_);
  candidates_.refuse(slot.index, status);
  forget_attestations();
}

// `openings` is the number of the breaker's openings when the failed work began.
void PlacedModel::State::failed(Slot& slot, std::uint64_t openings, const Status& status) {
  {
    const MutexLock lock(mutex_);
    const Failure failure = candidates_.fail(slot.index, openings, status, Clock::now());
    if (failure == Failure::kStale) return;
    forget_attestations();
    if (failure == Failure::kNoted) return;
  }
  log(LogLevel::kWarning, fmt::format("{} rests after a failure: {}", slot.name, status.to_string()),
      LogTopic::kFailover);
  wake_prober();
}

void PlacedModel::State::succeeded(Slot& slot, std::uint64_t openings) {
  Success success = Success::kStale;
  {
    const MutexLock lock(mutex_);
    success = candidates_.succeed(slot.index, openings);
    if (success != Success::kStale) forget_attestations();
  }
  report(slot, success);
}

void PlacedModel::State::report(const Slot& slot, Success success) {
  if (success != Success::kWorksAgain) return;
  log(LogLevel::kWarning, fmt::format("{} works again", slot.name), LogTopic::kFailover);
}

// Every attestation may have to be made again.
void PlacedModel::State::forget_attestations() {
  for (Slot& slot : slots_)
    slot.attestation = nullptr;
}

}  // namespace latebind::core
