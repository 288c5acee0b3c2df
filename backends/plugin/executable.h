// The executable of a plug-in: a loaded model with a pool of places for runs. core/backend/executable.h has the
// contract, including thread safety.
//
// A place has the memory of one run's tensors. Without a time limit the plug-in reads and writes the caller's memory;
// with one, the place's, because the plug-in may still run after the caller has left.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "backends/plugin/buffer.h"
#include "backends/plugin/contract.h"
#include "backends/plugin/given_run.h"
#include "backends/plugin/host.h"
#include "backends/plugin/state.h"
#include "core/backend/executable.h"
#include "core/threads/mutex.h"
#include "core/vendor/pooled_executable.h"

namespace latebind::plugin {

// A model that a plug-in has loaded. It owns the plug-in's object, and what that refers to.
struct Loaded {
  // Takes over `executable`. `bytes` owns the memory that the model may refer to.
  Loaded(StatePointer by, lbb_executable* executable, std::shared_ptr<const void> owner)
      : state(std::move(by)), handle(executable), bytes(std::move(owner)) {}
  Loaded(const Loaded&) = delete;
  Loaded& operator=(const Loaded&) = delete;
  ~Loaded();

  // Asks the plug-in to end a run, which may block.
  void stop(GivenRun& run) const;

  StatePointer state;
  lbb_executable* handle;
  std::shared_ptr<const void> bytes;
  std::vector<core::TensorInfo> inputs{};
  std::vector<core::TensorInfo> outputs{};
};

// The memory of one run.
struct RunMemory {
  explicit RunMemory(const Loaded& loaded);

  // What the plug-in gets. The lists point to the elements, which never move.
  std::vector<lbb_tensor> inputs;
  std::vector<lbb_output> outputs;
  std::vector<const lbb_tensor*> input_list;
  std::vector<lbb_output*> output_list;
  // Copies, and the shapes to which `inputs` point.
  std::vector<core::OutputTensor> own_inputs;
  std::vector<core::OutputTensor> own_outputs;
  std::vector<core::Shape> shapes;
};

// One run; see core/vendor/pooled_executable.h.
class PluginRun {
 public:
  using Request = std::unique_ptr<RunMemory>;
  using Loaded = plugin::Loaded;
  using Lease = core::RequestPool<Request>::Lease;

  PluginRun(std::shared_ptr<const Loaded> loaded, Lease lease) : loaded_(std::move(loaded)), lease_(std::move(lease)) {}
  PluginRun(const PluginRun&) = delete;
  PluginRun& operator=(const PluginRun&) = delete;

  [[nodiscard]] Lease& lease() { return lease_; }
  void limit(const core::RunOptions& options) { given_.limit(options); }
  [[nodiscard]] core::Status place(std::span<const core::TensorView> inputs, std::span<core::OutputTensor> outputs,
                                   bool in_own_memory);
  [[nodiscard]] core::Status compute();
  [[nodiscard]] core::Status give(std::span<core::OutputTensor> outputs);
  void give_up() { loaded_->stop(given_); }

 private:
  [[nodiscard]] core::Status check_outputs(const core::Status& status);

  const std::shared_ptr<const Loaded> loaded_;
  Lease lease_;
  GivenRun given_;
  bool in_own_memory_ = false;
};

class PluginExecutable final : public core::PooledExecutable<PluginRun> {
 public:
  // Takes over `executable`. kInternal names what the plug-in says wrongly about it.
  [[nodiscard]] static core::Result<std::unique_ptr<PluginExecutable>> create(StatePointer state,
                                                                              lbb_executable* executable,
                                                                              std::shared_ptr<const void> bytes,
                                                                              bool from_blob);

  [[nodiscard]] std::span<const core::TensorInfo> inputs() const override { return loaded().inputs; }
  [[nodiscard]] std::span<const core::TensorInfo> outputs() const override { return loaded().outputs; }
  [[nodiscard]] const core::ActiveConfig& active() const override { return active_; }
  [[nodiscard]] core::Status prepare() override;
  [[nodiscard]] const std::shared_ptr<const Loaded>& model() const { return model_; }

  // Like execute(), with outputs, and any inputs, in buffers of the device. The outputs have the types and static
  // shapes that the caller expects. kUnsupported when the plug-in has no buffers.
  [[nodiscard]] core::Status execute_to_buffers(std::span<const PlacedTensor> inputs,
                                                std::span<const PlacedTensor> outputs, const core::RunOptions& options);

 private:
  PluginExecutable(const std::shared_ptr<const Loaded>& loaded, core::ActiveConfig active);

  const core::ActiveConfig active_;
  const std::shared_ptr<const Loaded> model_;
};

}  // namespace latebind::plugin
