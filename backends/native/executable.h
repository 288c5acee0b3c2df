// NativeExecutable: a graph that is loaded on this machine's processors. Thread-safe: runs may be concurrent, and
// divide the threads of one team.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "backends/native/batch.h"
#include "backends/native/kernels/kernels.h"
#include "backends/native/plan/plan.h"
#include "backends/native/team.h"
#include "core/backend/executable.h"
#include "core/result.h"
#include "core/vendor/request_pool.h"

namespace latebind::native {

class NativeExecutable final : public core::Executable {
 public:
  // Throws std::bad_alloc.
  NativeExecutable(const Kernels& kernels, Plan plan, core::ActiveConfig active);

  // Packs the plan's weights from these files, and computes the values that depend on weights alone. Call it before the
  // first run. Returns the errors of PartReader; throws std::bad_alloc.
  [[nodiscard]] core::Status pack(const WeightFiles& files);

  [[nodiscard]] std::span<const core::TensorInfo> inputs() const override { return inputs_; }
  [[nodiscard]] std::span<const core::TensorInfo> outputs() const override { return outputs_; }
  [[nodiscard]] const core::ActiveConfig& active() const override { return active_; }

 private:
  [[nodiscard]] core::Status run(std::span<const core::TensorView> inputs, std::span<core::OutputTensor> outputs,
                                 const core::RunOptions& options) override;
  // Checks the ids, and packs the tokens that the mask keeps into the batch.
  [[nodiscard]] core::Status gather(std::span<const core::TensorView> inputs, Batch& batch) const;

  const Kernels& kernels_;
  Plan plan_;
  const core::ActiveConfig active_;
  std::vector<core::TensorInfo> inputs_;
  std::vector<std::size_t> id_inputs_;  // for each of Plan::inputs, its index in inputs_
  std::optional<std::size_t> mask_input_;
  std::vector<core::TensorInfo> outputs_;
  Team team_;
  core::RequestPool<Batch> batches_;
};

}  // namespace latebind::native
