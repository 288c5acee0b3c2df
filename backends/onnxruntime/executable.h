// OnnxruntimeExecutable: a session ready to run from many threads.
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "backends/onnxruntime/session.h"
#include "core/pooled_executable.h"

namespace latebind::onnxruntime {

// One run of a session: see core/pooled_executable.h. It has the vendor's objects for it and, when it may be abandoned,
// copies of all that the vendor reads and writes; the last owner frees them.
class OnnxruntimeRun {
 public:
  // A session is run from any number of threads: a request is only the means to stop one run.
  using Request = Owned<abi::RunOptions>;
  using Lease = core::RequestPool<Request>::Lease;
  struct Loaded {
    explicit Loaded(Session made);
    const Session session;
    std::vector<const char*> input_names;
    std::vector<const char*> output_names;
    std::vector<bool> is_input;  // of each output
  };

  OnnxruntimeRun(std::shared_ptr<const Loaded> loaded, Lease lease);
  OnnxruntimeRun(const OnnxruntimeRun&) = delete;
  OnnxruntimeRun& operator=(const OnnxruntimeRun&) = delete;
  ~OnnxruntimeRun();

  [[nodiscard]] Lease& lease() { return lease_; }
  [[nodiscard]] core::Status place(std::span<const core::TensorView> inputs, std::span<core::OutputTensor> outputs,
                                   bool in_own_memory);
  [[nodiscard]] core::Status compute();
  [[nodiscard]] core::Status give(std::span<core::OutputTensor> outputs) const;
  void give_up();

 private:
  struct Output {
    abi::Value* value = nullptr;  // null: to be allocated by the vendor
    core::OutputTensor own{};
    bool in_place = false;  // it is written directly to the caller's memory
    // After a run, where it is, unless it is in place.
    const void* result = nullptr;
    core::Shape shape;
    std::size_t bytes = 0;
  };

  core::Result<abi::Value*> wrap(const core::TensorInfo& info, void* data, const core::Shape& shape) const;
  core::Status read(const core::TensorInfo& info, Output& output) const;

  // In reverse order of destruction.
  const std::shared_ptr<const Loaded> loaded_;
  const Library& library_;
  Lease lease_;
  std::vector<std::unique_ptr<std::byte[]>> packed_;
  std::vector<abi::Value*> inputs_;
  std::vector<Output> outputs_;
  std::atomic<bool> stopped_{false};
};

class OnnxruntimeExecutable final : public core::PooledExecutable<OnnxruntimeRun> {
 public:
  // `active` as read back after loading.
  static core::Result<std::unique_ptr<core::Executable>> create(Session session, core::ActiveConfig active);

  [[nodiscard]] std::span<const core::TensorInfo> inputs() const override { return loaded().session.inputs; }
  [[nodiscard]] std::span<const core::TensorInfo> outputs() const override { return loaded().session.outputs; }
  [[nodiscard]] const core::ActiveConfig& active() const override { return active_; }

 private:
  OnnxruntimeExecutable(const std::shared_ptr<const OnnxruntimeRun::Loaded>& loaded, core::ActiveConfig active);

  const core::ActiveConfig active_;
};

}  // namespace latebind::onnxruntime
