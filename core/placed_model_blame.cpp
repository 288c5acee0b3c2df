// What is to blame for a failure: docs/decisions/0013-when-a-device-is-blamed.md.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/log.h"
#include "core/made_up_request.h"
#include "core/placed_model_state.h"
#include "core/vendor_call.h"

namespace latebind::core {
namespace {

// A CPU without a run timeout is slow at worst: this long counts as forever.
constexpr std::chrono::milliseconds kCpuAnswerTimeout{60'000};

// A suspect is checked no more often than this.
constexpr std::chrono::milliseconds kBetweenSuspicions{1'000};

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

// Keeps the shapes of the smallest run: asking with them costs least.
void PlacedModel::State::remember_shapes(Slot& slot, std::span<const TensorView> inputs) {
  std::size_t elements = 0;
  for (const TensorView& input : inputs) {
    const auto count = input.shape.element_count();
    if (!count.ok()) return;
    elements += *count;
  }
  // A run on nothing proves nothing.
  if (elements == 0 || elements >= slot.known_elements.load(std::memory_order_relaxed)) return;
  auto shapes = std::make_shared<std::vector<Shape>>();
  for (const TensorView& input : inputs)
    shapes->push_back(input.shape);
  const std::lock_guard lock(mutex_);
  if (elements >= slot.known_elements.load(std::memory_order_relaxed)) return;
  slot.known_elements.store(elements, std::memory_order_relaxed);
  slot.known_shapes = std::move(shapes);
}

// Does the device work? `caller` has the limits of the waiting caller; `said` receives why it does not. `may_guess`:
// where no shapes are known, others are tried.
PlacedModel::State::Answer PlacedModel::State::ask(const Slot& slot, Executable& executable, const RunOptions& caller,
                                                   Status* said, bool may_guess) {
  std::shared_ptr<const std::vector<Shape>> shapes;
  {
    const std::lock_guard lock(mutex_);
    shapes = slot.known_shapes;
  }
  // A model of static shapes computes no others. Where dimensions are open, ones go together with most operators: that
  // the device computes them tells that it works, that it does not tells nothing.
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
      // Where zeros are not valid input, the result says nothing.
      if (is_guess || !is_device_fault(status)) return Answer::kNotAskable;
      if (was_spoiled_by_another(executable, status)) return Answer::kNone;
      return options.run_timeout && Clock::now() - began >= *options.run_timeout ? Answer::kHangs : Answer::kFails;
  }
}

// Whether what was missed is the device's fault. One that does not answer rests from now on; where that cannot be found
// out, what becomes of the request on other devices will tell.
void PlacedModel::State::judge(Miss& miss, std::shared_ptr<Executable> executable, const RunOptions& caller) {
  if (!is_usable(executable)) {
    auto loaded = load(*miss.slot, false, caller);
    if (!loaded.ok()) {
      if (!is_of_the_call(loaded.status())) failed(*miss.slot, miss.openings, loaded.status());
      return;
    }
    executable = *std::move(loaded);
  }
  // Whoever has waited so long does not wait for a guess as well.
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
    log(LogLevel::kInfo, fmt::format("{} works, and could not compute a request, which goes to the next device: {}",
                                     miss.slot->name, miss.status.to_string()));
  }
}

void PlacedModel::State::suspect(Slot& slot) {
  {
    const std::lock_guard lock(mutex_);
    const auto now = Clock::now();
    if (slot.suspected || now < slot.suspected_last + kBetweenSuspicions || !slot.breaker.is_closed()) return;
    slot.suspected = true;
    slot.suspected_last = now;
  }
  slot.has_answered.store(false, std::memory_order_relaxed);
  ensure_prober();
}

// On the background's thread.
void PlacedModel::State::question_suspect(Slot& slot) {
  std::shared_ptr<Executable> executable;
  {
    const std::lock_guard lock(mutex_);
    executable = slot.executable;
  }
  if (!is_usable(executable)) return;  // the next request loads it again, and tells
  const auto openings = slot.breaker.openings();
  Status said;
  Answer answer = ask(slot, *executable, {.cancellation = leaving_}, &said);
  if (leaving_.is_requested()) return;
  // Too busy for a small run all that time, and nothing else was answered either: what it is busy with does not end.
  if (answer == Answer::kNone && !slot.has_answered.load(std::memory_order_relaxed) && given_up_calls(slot.name) > 0) {
    answer = Answer::kHangs;
  }
  if (answer != Answer::kFails && answer != Answer::kHangs) return;
  failed(slot, openings,
         Status(StatusCode::kDeviceFailed,
                fmt::format("seems to hang: requests were not answered by their deadlines, nor was a small one of our "
                            "own: {}",
                            said.brief())));
}

// Lets the next request through to a device that rests, unless it was judged since it had opened `openings` times.
void PlacedModel::State::want_request(Slot& slot, std::uint64_t openings) {
  const std::lock_guard lock(mutex_);
  if (slot.breaker.openings() == openings && !slot.breaker.is_closed()) slot.wants_request = true;
}

// For good: the device works, and will never take this model or these options.
void PlacedModel::State::refused(Slot& slot, const Status& status) {
  const std::lock_guard lock(mutex_);
  slot.out_of_rotation = true;
  slot.refusal = PlacementStep::refused(slot.name, status);
  changed();
}

// `openings`: of the slot's breaker, when what failed began.
void PlacedModel::State::failed(Slot& slot, std::uint64_t openings, const Status& status) {
  {
    const std::lock_guard lock(mutex_);
    const bool opened = slot.breaker.failed_since(openings, Clock::now());
    if (!opened && slot.breaker.openings() != openings) return;  // judged since
    slot.has_failed.store(true, std::memory_order_relaxed);
    slot.refusal = PlacementStep::refused(slot.name, status);
    changed();
    if (!opened) return;
  }
  log(LogLevel::kWarning, fmt::format("{} rests after a failure: {}", slot.name, status.to_string()),
      LogTopic::kFailover);
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
    slot.wants_request = false;
    changed();
  }
  if (rested) log(LogLevel::kWarning, fmt::format("{} works again", slot.name), LogTopic::kFailover);
}

// Under mutex_: every attestation may have to tell another story now.
void PlacedModel::State::changed() {
  for (Slot& slot : slots_)
    slot.attestation = nullptr;
}

}  // namespace latebind::core
