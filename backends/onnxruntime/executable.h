// OnnxruntimeExecutable: a session ready to run from many threads.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "backends/onnxruntime/session.h"
#include "core/executable.h"
#include "core/request_pool.h"

namespace latebind::onnxruntime {

class OnnxruntimeExecutable final : public core::Executable {
 public:
  // `active` as read back after loading.
  static core::Result<std::unique_ptr<core::Executable>> create(Session session, core::ActiveConfig active);

  [[nodiscard]] std::span<const core::TensorInfo> inputs() const override { return loaded_->session.inputs; }
  [[nodiscard]] std::span<const core::TensorInfo> outputs() const override { return loaded_->session.outputs; }
  [[nodiscard]] const core::ActiveConfig& active() const override { return active_; }
  [[nodiscard]] std::size_t hung_runs() override;
  [[nodiscard]] core::Status execute(std::span<const core::TensorView> inputs, std::span<core::OutputTensor> outputs,
                                     const core::RunOptions& options) override;

 private:
  // A session is run from any number of threads: a request is no more than what tells one run to stop.
  using Request = Owned<abi::RunOptions>;
  using Pool = core::RequestPool<Request>;
  // Shared with runs that were given up.
  struct Loaded {
    explicit Loaded(Session made);
    const Session session;
    std::vector<const char*> input_names;
    std::vector<const char*> output_names;
  };
  class Run;

  OnnxruntimeExecutable(Session session, core::ActiveConfig active);

  const std::shared_ptr<const Loaded> loaded_;
  const core::ActiveConfig active_;
  const std::string id_;  // "onnxruntime:CPU"
  Pool pool_;
};

}  // namespace latebind::onnxruntime
