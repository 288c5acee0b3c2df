// OnnxruntimeExecutable: a loaded session that many threads can run.
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "backends/onnxruntime/session.h"
#include "core/vendor/pooled_executable.h"

namespace latebind::onnxruntime {

// One run of a session; see core/vendor/pooled_executable.h. It holds the vendor's objects for the run. For a run that
// may be abandoned, it also holds copies of all data that the vendor reads and writes, and its last owner frees them.
class OnnxruntimeRun {
 public:
  // Any number of threads can run a session at once; a request only serves to stop one run.
  using Request = Owned<abi::RunOptions>;
  using Lease = core::RequestPool<Request>::Lease;
  struct Loaded {
    explicit Loaded(Session made);
    const Session session;
    std::vector<const char*> input_names;
    std::vector<const char*> output_names;
    std::vector<bool> is_input;  // for each output, whether it is also an input
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
    abi::Value* value = nullptr;  // null: the vendor allocates it
    core::OutputTensor own{};
    bool in_place = false;  // the vendor writes directly to the caller's memory
    // The place of the output after a run, unless it is in place.
    const void* result = nullptr;
    core::Shape shape;
    std::size_t bytes = 0;
  };

  core::Result<abi::Value*> wrap(const core::TensorInfo& info, void* data, const core::Shape& shape) const;
  core::Status read(const core::TensorInfo& info, Output& output) const;

  // The members are destroyed in reverse order.
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
  // `active` is what was read back after loading.
  static core::Result<std::unique_ptr<core::Executable>> create(Session session, core::ActiveConfig active);

  [[nodiscard]] std::span<const core::TensorInfo> inputs() const override { return loaded().session.inputs; }
  [[nodiscard]] std::span<const core::TensorInfo> outputs() const override { return loaded().session.outputs; }
  [[nodiscard]] const core::ActiveConfig& active() const override { return active_; }

 private:
  OnnxruntimeExecutable(const std::shared_ptr<const OnnxruntimeRun::Loaded>& loaded, core::ActiveConfig active);

  const core::ActiveConfig active_;
};

}  // namespace latebind::onnxruntime
