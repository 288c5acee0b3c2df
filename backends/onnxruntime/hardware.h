// The GPUs in this machine as the system reports them, and what prevents the WebGPU provider, which works with any GPU,
// from using each.
//
// Pure functions; any thread.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "core/backend/backend.h"
#include "core/platform/accelerators.h"
#include "core/vendor/vendor_search.h"

namespace latebind::onnxruntime {

// One note for each GPU in `found`. `devices` are those that the backend lists, or the error if it cannot be asked.
// Remedies are worded for `system`.
[[nodiscard]] std::vector<core::HardwareNote> hardware_notes(std::span<const platform::Accelerator> found,
                                                             const core::Result<std::vector<core::Device>>& devices,
                                                             core::System system = core::own_system());

}  // namespace latebind::onnxruntime
