// A graph on the processors of this machine: core::Executable that computes by itself.
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
#include "core/executable.h"
#include "core/request_pool.h"
#include "core/result.h"

namespace latebind::native {

class NativeExecutable final : public core::Executable {
 public:
  // Throws std::bad_alloc.
  NativeExecutable(const Kernels& kernels, Plan plan, core::ActiveConfig active);

  // Packs the plan's weights, which are in these files; before the first run. The errors of PartReader; throws
  // std::bad_alloc.
  [[nodiscard]] core::Status pack(const WeightFiles& files);

  [[nodiscard]] std::span<const core::TensorInfo> inputs() const override { return inputs_; }
  [[nodiscard]] std::span<const core::TensorInfo> outputs() const override { return {&output_, 1}; }
  [[nodiscard]] const core::ActiveConfig& active() const override { return active_; }

 private:
  [[nodiscard]] core::Status run(std::span<const core::TensorView> inputs, std::span<core::OutputTensor> outputs,
                                 const core::RunOptions& options) override;
  // The tokens that the mask keeps, packed, with their ids checked.
  [[nodiscard]] core::Status gather(std::span<const core::TensorView> inputs, Batch& batch) const;

  const Kernels& kernels_;
  Plan plan_;
  const core::ActiveConfig active_;
  std::vector<core::TensorInfo> inputs_;
  std::vector<std::size_t> id_inputs_;  // by Plan::inputs: the position among inputs_
  std::optional<std::size_t> mask_input_;
  core::TensorInfo output_;
  Team team_;
  core::RequestPool<Batch> batches_;
};

}  // namespace latebind::native
