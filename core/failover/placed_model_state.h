// The state of a PlacedModel: the candidates with their executables. Internal. placed_model.cpp places and loads,
// placed_model_execute.cpp answers requests, placed_model_blame.cpp finds out what caused a failure,
// placed_model_probe.cpp is what the background thread does.
//
// The idea: Candidates decides which device is tried, and this class tries it. A request walks through the candidates
// in order and records a Miss for each that did not answer. A candidate is not blamed on the evidence of the caller's
// request alone: the device is asked to compute a small made-up request (ask()), and its answer decides (judge()).
//
// Lock order: a slot's `loading`, then mutex_. No vendor is called with mutex_ held.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/failover/candidates.h"
#include "core/failover/placed_model.h"
#include "core/failover/prober.h"
#include "core/threads/mutex.h"
#include "core/vendor/vendor_call.h"

namespace latebind::core {

// Whether the code reports a fault of the caller's model, blob or options. An incompatible blob has an environment
// code, but belongs here, because only another library makes it fit.
[[nodiscard]] bool is_of_the_model(StatusCode code);
// Whether another device, or this one later, may succeed where this one failed.
[[nodiscard]] bool is_device_fault(const Status& status);
// Whether there is an executable and no run has spoiled it.
[[nodiscard]] bool is_usable(const std::shared_ptr<Executable>& executable);
// Whether runs other than the failed one have spoiled the executable. The failure then says nothing about the device.
[[nodiscard]] bool was_spoiled_by_another(const Executable& executable, const Status& failure);

class PlacedModel::State final : public Prober::Tasks, public std::enable_shared_from_this<PlacedModel::State> {
 public:
  using Clock = Candidates::Clock;

  State(std::string model_name, std::string placement_text, Loader load, bool strict, const FailoverOptions& options)
      : model_name_(std::move(model_name)),
        placement_text_(std::move(placement_text)),
        load_(std::move(load)),
        strict_(strict),
        options_(options),
        candidates_(options.breaker) {}

  Status place(std::vector<Placement::Candidate> candidates, const RunOptions& limits);
  Status execute(std::span<const TensorView> inputs, std::span<OutputTensor> outputs, const RunOptions& options,
                 std::shared_ptr<const Attestation>* answered_by);
  std::shared_ptr<const Attestation> attestation();
  [[nodiscard]] DeviceKind device_kind();
  [[nodiscard]] std::size_t hung_runs() const;
  Status prepare();
  void start_standby();
  void stop();

  [[nodiscard]] std::span<const TensorInfo> inputs() const { return inputs_; }
  [[nodiscard]] std::span<const TensorInfo> outputs() const { return outputs_; }

 private:
  using Failure = Candidates::Failure;
  using Success = Candidates::Success;
  using PickFor = Candidates::PickFor;
  using Task = Candidates::Task;

  // What a candidate of the same index has: a device with its executable, or nothing.
  struct Slot {
    Slot(Candidates::Index slot_index, std::string slot_name, std::optional<Device> slot_device)
        : index(slot_index), name(std::move(slot_name)), device(std::move(slot_device)) {}

    const Candidates::Index index;
    const std::string name;
    const std::optional<Device> device;
    // The number of elements in known_shapes, so that a run that is not smaller need not take the lock.
    std::atomic<std::size_t> known_elements{std::numeric_limits<std::size_t>::max()};
    Mutex loading;  // held while this slot's executable is made
    // Guarded by State::mutex_.
    std::shared_ptr<Executable> executable;
    std::shared_ptr<const Attestation> attestation;  // made when first requested after a change
    // The input shapes of the smallest run that it has computed.
    std::shared_ptr<const std::vector<Shape>> known_shapes;
    std::shared_ptr<VendorCall> pending_load;  // the last load that a caller waited for with a limit
  };

  struct Pick {
    Slot* slot = nullptr;
    std::uint64_t openings = 0;  // of the slot's breaker, when it was picked
    bool let_through = false;    // the device rests, and this request is the one that is let through
    std::shared_ptr<Executable> executable;
    std::shared_ptr<const Attestation> attestation;
    std::vector<PlacementStep> passed_over;  // when the executable is still to be loaded
  };

  // What a device did with a made-up request, in shapes that it has computed before.
  enum class Answer {
    kWorks,
    kFails,
    kHangs,
    kNone,        // it was too busy, or the caller's time was up
    kNotAskable,  // no made-up request is known that it must be able to compute
  };

  class LetThrough;

  // A candidate that did not answer a request.
  struct Miss {
    enum class Kind { kNotLoaded, kUnable, kFailed };

    Slot* slot = nullptr;
    std::uint64_t openings = 0;  // as in Pick
    Kind kind = Kind::kFailed;
    Status status;
    Answer answer = Answer::kNone;  // set for kFailed
    bool took_too_long = false;     // the run exceeded the device's limit
  };

  Pick pick(const std::vector<Miss>& misses, PickFor purpose);
  Status run(const Slot& slot, Executable& executable, std::span<const TensorView> inputs,
             std::span<OutputTensor> outputs, const RunOptions& options) const;
  void record_answer(const Pick& by, std::span<const TensorView> inputs, const std::vector<Miss>& misses);
  [[nodiscard]] Status no_answer_error(const std::vector<Miss>& misses) const;

  Answer ask(const Slot& slot, Executable& executable, const RunOptions& caller, Status* said = nullptr,
             bool may_guess = true);
  void judge(Miss& miss, std::shared_ptr<Executable> executable, const RunOptions& caller);
  void want_request(Slot& slot, std::uint64_t openings);
  void remember_shapes(Slot& slot, std::span<const TensorView> inputs);
  void suspect(Slot& slot);
  void missed_deadline(Slot& slot);
  void check_suspect(Slot& slot, std::uint64_t openings);

  std::shared_ptr<const Attestation> attestation_of(Slot& slot, const Executable& executable);
  std::shared_ptr<const Attestation> attestation_after(const Attestation& now,
                                                       const std::vector<PlacementStep>& met) const;
  Result<std::shared_ptr<Executable>> load(Slot& slot, bool anew, const RunOptions& limits);
  Result<std::shared_ptr<Executable>> load_now(Slot& slot, bool anew);
  void unload(Slot& slot);
  void refused(Slot& slot, const Status& status);
  void failed(Slot& slot, std::uint64_t openings, const Status& status);
  void succeeded(Slot& slot, std::uint64_t openings);
  static void report(const Slot& slot, Success success);
  void forget_attestations() LB_REQUIRES(mutex_);
  void wake_prober();
  std::optional<Clock::time_point> do_next_task() override;
  void load_standby(Slot& slot, std::uint64_t openings);
  void probe(Slot& slot, std::uint64_t openings);
  [[nodiscard]] std::optional<std::chrono::milliseconds> run_timeout_of(const Slot& slot) const;
  [[nodiscard]] std::vector<PlacementStep> refusals() const;

  // Requested by stop(): the background waits for no vendor then.
  const Cancellation leaving_ = Cancellation::create();

  // Constant after place().
  const std::string model_name_;
  const std::string placement_text_;
  const Loader load_;
  const bool strict_;
  const FailoverOptions options_;
  std::deque<Slot> slots_;
  std::vector<TensorInfo> inputs_;
  std::vector<TensorInfo> outputs_;

  mutable Mutex mutex_;
  Candidates candidates_ LB_GUARDED_BY(mutex_);
  Prober prober_;
};

}  // namespace latebind::core
