// PlacedModel: a model on the first device of its placement that works, with the others behind it.
//
// A request that fails for a reason that may be the device's is answered by the next candidate. A device that then
// fails on a small made-up request as well rests behind a breaker: a background thread probes it with such requests and
// puts it back into use when it works. When every candidate rests, requests try them anyway, in order: a device that
// might work is better than a certain error. A caller's data is never kept, nor run again to find out whose fault a
// failure was. A model that a run has spoiled (Executable::spoiled_by) is loaded again before its next run, and runs
// that failed because of it are repeated.
//
// Thread-safe. Candidates after the first are loaded when they are first needed, unless `warm_standby` asks for it.
// Destruction does not wait for a vendor call that hangs: what it uses is kept alive until it returns.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/attestation.h"
#include "core/breaker.h"
#include "core/executable.h"
#include "core/placement.h"
#include "core/result.h"

namespace latebind::core {

struct FailoverOptions {
  BreakerPolicy breaker{};
  // The longest a run may take before the device counts as hung; unset: kAcceleratorRunTimeout for devices other than
  // CPUs, none for CPUs, which are slow at worst.
  std::optional<std::chrono::milliseconds> run_timeout{};
  // The longest that loading on a device may take before it is skipped; loading continues, and the device is used once
  // it is done. Unset: kAcceleratorLoadTimeout; 0: none. For CPUs it is none as well, but in a process that fork()
  // made, where a vendor's library may wait for threads that only the parent has.
  std::optional<std::chrono::milliseconds> load_timeout{};
  // The longest a device may take for a small made-up request, which is run to find out whether it works.
  std::chrono::milliseconds answer_timeout{10'000};
  // Loads the second candidate right after the first, so that the first failover costs no load.
  bool warm_standby = false;
};

inline constexpr std::chrono::milliseconds kAcceleratorRunTimeout{60'000};
// Compilers for NPUs take minutes for a large model.
inline constexpr std::chrono::milliseconds kAcceleratorLoadTimeout{300'000};

// The value for this device; nothing when there is none.
[[nodiscard]] std::optional<std::chrono::milliseconds> load_timeout_of(const FailoverOptions& options, DeviceKind kind);
[[nodiscard]] std::optional<std::chrono::milliseconds> run_timeout_of(const FailoverOptions& options, DeviceKind kind);

class PlacedModel {
 public:
  using Loader = std::function<Result<std::unique_ptr<Executable>>(const Device& device)>;

  // Loads the first candidate that works. `strict`: only the first one (else kStrictFallback). `model_name` and
  // `placement` are for messages. `load` is kept, with whatever it refers to, for candidates that are needed later.
  // kCancelled or kDeadlineExceeded when `limits` end it.
  static Result<std::shared_ptr<PlacedModel>> place(std::string model_name, const Placement& placement,
                                                    std::vector<Placement::Candidate> candidates, Loader load,
                                                    bool strict, const FailoverOptions& options,
                                                    const RunOptions& limits = {});
  ~PlacedModel();
  PlacedModel(const PlacedModel&) = delete;
  PlacedModel& operator=(const PlacedModel&) = delete;

  // As the first device that worked declared them; a later candidate that declares others is rejected.
  [[nodiscard]] std::span<const TensorInfo> inputs() const;
  [[nodiscard]] std::span<const TensorInfo> outputs() const;

  // Which device would answer now.
  [[nodiscard]] std::shared_ptr<const Attestation> attestation() const;
  [[nodiscard]] DeviceKind device_kind() const;

  // Abandoned runs on any device of the placement that have not returned from the vendor.
  [[nodiscard]] std::size_t hung_runs() const;

  // Does now, on the device that would answer, what is otherwise done on first use.
  [[nodiscard]] Status prepare();

  // kDeadlineExceeded or kBusy when the caller's deadline passes, also while a candidate still loads; kDeviceFailed
  // when every candidate failed, with each one's reason; kInvalidArgument with the vendor's message when one of them
  // works and just cannot compute this request; kOutOfMemory when one of them lacked memory for it. When a device is
  // blamed: docs/decisions/0013. `answered_by`, when given, receives the attestation of the device that made this
  // answer.
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
