// The GPUs in this machine as the system shows them, and what keeps the WebGPU provider, which is for any GPU, from
// using each.
//
// Pure functions over what is passed in; any thread.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "core/backend.h"
#include "core/platform/accelerators.h"
#include "core/vendor_search.h"

namespace latebind::onnxruntime {

// One note for each GPU among `found`. `devices`: those that the backend lists, or why it cannot be asked. `system`:
// the system for which remedies are worded.
[[nodiscard]] std::vector<core::HardwareNote> hardware_notes(std::span<const platform::Accelerator> found,
                                                             const core::Result<std::vector<core::Device>>& devices,
                                                             core::System system = core::own_system());

}  // namespace latebind::onnxruntime
