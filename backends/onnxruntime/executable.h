// OnnxruntimeExecutable: a session ready to run from many threads.
#pragma once

#include <memory>
#include <vector>

#include "backends/onnxruntime/session.h"
#include "core/executable.h"
#include "core/request_pool.h"

namespace latebind::onnxruntime {

class OnnxruntimeExecutable final : public core::Executable {
 public:
  // `active` as read back after loading.
  static core::Result<std::unique_ptr<core::Executable>> create(Session session, core::ActiveConfig active);

  [[nodiscard]] std::span<const core::TensorInfo> inputs() const override { return session_.inputs; }
  [[nodiscard]] std::span<const core::TensorInfo> outputs() const override { return session_.outputs; }
  [[nodiscard]] const core::ActiveConfig& active() const override { return active_; }
  [[nodiscard]] core::Status execute(std::span<const core::TensorView> inputs, std::span<core::OutputTensor> outputs,
                                     const core::RunOptions& options) override;

 private:
  // A session is run from any number of threads: a request is no more than what tells one run to stop.
  using Request = Owned<abi::RunOptions>;
  struct Values;

  OnnxruntimeExecutable(Session session, core::ActiveConfig active);
  core::Status bind_inputs(std::span<const core::TensorView> inputs, Values& values) const;
  core::Status bind_outputs(std::span<core::OutputTensor> outputs, Values& values) const;
  core::Status run(const abi::RunOptions* run_options, Values& values) const;
  core::Status collect_outputs(std::span<core::OutputTensor> outputs, Values& values) const;
  core::Result<Owned<abi::Value>> wrap(const core::TensorInfo& info, void* data, const core::Shape& shape) const;

  const Session session_;
  const core::ActiveConfig active_;
  std::vector<const char*> input_names_;
  std::vector<const char*> output_names_;
  core::RequestPool<Request> pool_;
};

}  // namespace latebind::onnxruntime
