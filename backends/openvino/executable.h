// The executable of the openvino backend: a compiled model with a pool of warm requests. core/backend/executable.h has
// the contract, including thread safety.
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <span>
#include <utility>

#include "backends/openvino/compiled.h"
#include "backends/openvino/request.h"
#include "core/vendor/pooled_executable.h"

namespace latebind::openvino {

// One run of a compiled model; see core/vendor/pooled_executable.h.
class OpenvinoRun {
 public:
  using Request = openvino::Request;
  using Loaded = Compiled;
  using Lease = core::RequestPool<Request>::Lease;

  // The pool keeps `compiled` alive.
  OpenvinoRun(const std::shared_ptr<const Compiled>& compiled, Lease lease);
  OpenvinoRun(const OpenvinoRun&) = delete;
  OpenvinoRun& operator=(const OpenvinoRun&) = delete;
  ~OpenvinoRun() {
    if (!trusted_ || cancelled_) lease_.mark_broken();
  }

  [[nodiscard]] Lease& lease() { return lease_; }
  [[nodiscard]] core::Status place(std::span<const core::TensorView> inputs, std::span<core::OutputTensor> outputs,
                                   bool in_own_memory) {
    return lease_->place(inputs, outputs, in_own_memory);
  }
  [[nodiscard]] core::Status compute();
  [[nodiscard]] core::Status give(std::span<core::OutputTensor> outputs) { return lease_->give(outputs); }
  void give_up();

 private:
  Lease lease_;
  SharedRuns* const shared_runs_;  // of the compiled model; null if its runs do not affect one another
  bool trusted_ = true;
  bool cancelled_ = false;
  std::atomic<bool> given_up_{false};
};

class OpenvinoExecutable final : public core::PooledExecutable<OpenvinoRun> {
 public:
  static core::Result<std::unique_ptr<core::Executable>> create(const std::shared_ptr<const Compiled>& compiled,
                                                                const core::CompileOptions& options);

  [[nodiscard]] std::span<const core::TensorInfo> inputs() const override { return loaded().inputs; }
  [[nodiscard]] std::span<const core::TensorInfo> outputs() const override { return loaded().outputs; }
  [[nodiscard]] const core::ActiveConfig& active() const override { return active_; }

 private:
  OpenvinoExecutable(const std::shared_ptr<const Compiled>& compiled, std::size_t requests);
  [[nodiscard]] core::Status check_values(std::span<const core::TensorView> inputs) const override;

  const bool narrows_integers_;
  core::ActiveConfig active_;  // constant after create()
};

}  // namespace latebind::openvino
