// The executable of the openvino backend: a compiled model with a pool of warm requests. See core/executable.h for the
// contract.
#pragma once

#include <memory>
#include <span>
#include <string>

#include "backends/openvino/compiled.h"
#include "backends/openvino/request.h"
#include "core/executable.h"
#include "core/request_pool.h"

namespace latebind::openvino {

class OpenvinoExecutable final : public core::Executable {
 public:
  // Makes all requests, so that the first run is as fast as the second.
  static core::Result<std::unique_ptr<core::Executable>> create(std::shared_ptr<const Compiled> compiled,
                                                                const core::CompileOptions& options);

  [[nodiscard]] std::span<const core::TensorInfo> inputs() const override { return compiled_->inputs; }
  [[nodiscard]] std::span<const core::TensorInfo> outputs() const override { return compiled_->outputs; }
  [[nodiscard]] const core::ActiveConfig& active() const override { return active_; }
  [[nodiscard]] std::size_t hung_runs() override;
  [[nodiscard]] core::Status execute(std::span<const core::TensorView> inputs, std::span<core::OutputTensor> outputs,
                                     const core::RunOptions& options) override;

 private:
  using Pool = core::RequestPool<Request>;
  class Run;

  OpenvinoExecutable(std::shared_ptr<const Compiled> compiled, std::size_t requests);

  const std::shared_ptr<const Compiled> compiled_;
  const std::string id_;  // "openvino:CPU"
  const bool narrows_integers_;
  Pool pool_;
  core::ActiveConfig active_;  // constant after create()
};

}  // namespace latebind::openvino
