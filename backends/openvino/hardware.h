// Intel's NPUs and GPUs as the system reports them, and what prevents OpenVINO from using each.
//
// Pure functions; any thread.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "core/backend/backend.h"
#include "core/platform/accelerators.h"
#include "core/vendor/vendor_search.h"

namespace latebind::openvino {

// One note for each Intel device in `found`. `devices` are those that OpenVINO lists, or the error if it cannot be
// asked; `install_hint` then says how to install it. Remedies are worded for `system`.
[[nodiscard]] std::vector<core::HardwareNote> hardware_notes(std::span<const platform::Accelerator> found,
                                                             const core::Result<std::vector<core::Device>>& devices,
                                                             const std::string& install_hint,
                                                             core::System system = core::own_system());

}  // namespace latebind::openvino
