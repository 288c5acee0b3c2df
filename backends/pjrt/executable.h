// PjrtExecutable: a compiled program with its weights on one device. Any number of threads may run it at once.
//
// A run uploads its inputs, executes, and downloads the results. PJRT cannot cancel an execution, so a run that was
// given up ends only between these steps; the host abandons its thread meanwhile, and counts it.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "backends/pjrt/client.h"
#include "backends/pjrt/constants.h"
#include "backends/pjrt/stablehlo/network.h"
#include "core/backend/executable.h"

namespace latebind::pjrt {

// What runs need; constant.
struct LoadedProgram {
  std::shared_ptr<const Client> client{};
  std::size_t device = 0;
  OwnedProgram program{};
  std::vector<NetworkInput> inputs{};
  std::vector<core::TensorInfo> outputs{};
  std::vector<SharedBuffer> constants{};
};

class PjrtExecutable final : public core::Executable {
 public:
  PjrtExecutable(std::shared_ptr<const LoadedProgram> loaded, core::ActiveConfig active);

  [[nodiscard]] std::span<const core::TensorInfo> inputs() const override { return inputs_; }
  [[nodiscard]] std::span<const core::TensorInfo> outputs() const override { return loaded_->outputs; }
  [[nodiscard]] const core::ActiveConfig& active() const override { return active_; }

 private:
  [[nodiscard]] core::Status run(std::span<const core::TensorView> inputs, std::span<core::OutputTensor> outputs,
                                 const core::RunOptions& options) override;

  const std::shared_ptr<const LoadedProgram> loaded_;
  const core::ActiveConfig active_;
  std::vector<core::TensorInfo> inputs_;
};

// Returns the ids or the mask as the device gets them. kInvalidArgument names a number that is not allowed: an id
// outside of its table (except at padding, which is a 0 in `mask`; null if there is no mask of this shape), or a number
// that a mask cannot have.
[[nodiscard]] core::Result<std::vector<std::int32_t>> checked_numbers(const NetworkInput& input,
                                                                      std::span<const std::int64_t> numbers,
                                                                      const std::int64_t* mask);

}  // namespace latebind::pjrt
