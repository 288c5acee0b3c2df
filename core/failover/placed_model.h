// PlacedModel: a model on the first device of its placement that works, with the other candidates in reserve.
//
// If a request fails for a reason that may be the device's fault, the next candidate answers it. The failed device is
// then asked to compute a small made-up request. If it fails on that as well, it rests behind a breaker: a background
// thread probes it with such requests and puts it back into use when it works. If every candidate rests, requests try
// them anyway, in order, because a device that might work is better than a certain error. A caller's data is never
// kept, nor run again to find out what caused a failure. A model that a run has spoiled (Executable::spoiled_by()) is
// loaded again before its next run, and runs that failed because of it are repeated.
//
// All functions may be called from any thread. Candidates after the first are loaded when they are first needed, or at
// once with `warm_standby`. The destructor does not wait for a vendor call that hangs: what the call uses stays alive
// until it returns.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/backend/executable.h"
#include "core/failover/breaker.h"
#include "core/placement/attestation.h"
#include "core/placement/placement.h"
#include "core/result.h"

namespace latebind::core {

struct FailoverOptions {
  BreakerPolicy breaker{};
  // The longest time a run may take before the device counts as hung. 0 disables the limit. Unset means
  // kAcceleratorRunTimeout, and no limit for CPUs, which are slow at worst.
  std::optional<std::chrono::milliseconds> run_timeout{};
  // The longest time that loading on a device may take before the device is skipped. The loading continues, and the
  // device is used once it is done. 0 disables the limit. Unset means kAcceleratorLoadTimeout, and no limit for CPUs,
  // except in a process made by fork(): there a vendor's library may wait for threads that only the parent has.
  std::optional<std::chrono::milliseconds> load_timeout{};
  // The longest time a device may take for a made-up request that tests whether it works.
  std::chrono::milliseconds answer_timeout{10'000};
  // Loads the second candidate right after the first, so that the first failover does not wait for a load.
  bool warm_standby = false;
};

inline constexpr std::chrono::milliseconds kAcceleratorRunTimeout{60'000};
// Longer than for runs, because compilers for NPUs take minutes for a large model.
inline constexpr std::chrono::milliseconds kAcceleratorLoadTimeout{300'000};

// Return the limit for this kind of device, or std::nullopt for no limit.
[[nodiscard]] std::optional<std::chrono::milliseconds> load_timeout_of(const FailoverOptions& options, DeviceKind kind);
[[nodiscard]] std::optional<std::chrono::milliseconds> run_timeout_of(const FailoverOptions& options, DeviceKind kind);

class PlacedModel {
 public:
  using Loader = std::function<Result<std::unique_ptr<Executable>>(const Device& device)>;

  // Loads the first candidate that works. With `strict`, only the first candidate may be used (otherwise
  // kStrictFallback). `model_name` and `placement` are for messages. `load` is kept, with everything it refers to, for
  // candidates that are loaded later. Returns kCancelled or kDeadlineExceeded when `limits` end the loading.
  static Result<std::shared_ptr<PlacedModel>> place(std::string model_name, const Placement& placement,
                                                    std::vector<Placement::Candidate> candidates, Loader load,
                                                    bool strict, const FailoverOptions& options,
                                                    const RunOptions& limits = {});
  ~PlacedModel();
  PlacedModel(const PlacedModel&) = delete;
  PlacedModel& operator=(const PlacedModel&) = delete;

  // The inputs and outputs that the first working device declared. A later candidate that declares others is rejected.
  [[nodiscard]] std::span<const TensorInfo> inputs() const;
  [[nodiscard]] std::span<const TensorInfo> outputs() const;

  // Describes the device that would answer now.
  [[nodiscard]] std::shared_ptr<const Attestation> attestation() const;
  [[nodiscard]] DeviceKind device_kind() const;

  // Returns the number of abandoned runs, on any device of the placement, that have not returned from the vendor.
  [[nodiscard]] std::size_t hung_runs() const;

  // Does now, on the device that would answer, what is otherwise done on first use.
  [[nodiscard]] Status prepare();

  // Runs the model once on the first candidate that works. Errors:
  //   kDeadlineExceeded, kBusy   the caller's deadline passed, possibly while a candidate was still loading
  //   kDeviceFailed              every candidate failed; the message has each one's reason
  //   kInvalidArgument           a device works but cannot compute this request; has the vendor's message
  //   kOutOfMemory               a candidate lacked memory for the request
  //   others                     the request itself is wrong; see Executable::execute()
  // docs/decisions/0013 says when a device is blamed. If `answered_by` is given, it receives the attestation of the
  // device that made this answer.
  [[nodiscard]] Status execute(std::span<const TensorView> inputs, std::span<OutputTensor> outputs,
                               const RunOptions& options = {},
                               std::shared_ptr<const Attestation>* answered_by = nullptr);

 private:
  class State;
  explicit PlacedModel(std::shared_ptr<State> state);

  // Shared with the probing thread, which may outlive this object while a vendor call hangs.
  const std::shared_ptr<State> state_;
};

}  // namespace latebind::core
