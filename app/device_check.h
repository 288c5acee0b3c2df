// Checks that a device works: loads a tiny model on it, runs it and compares the result.
#pragma once

#include "core/backend/backend.h"
#include "core/backend/device.h"
#include "core/status.h"

namespace latebind::app {

// `device` belongs to `backend`. An error is the reason why the device does not work; a wrong result is kDeviceFailed.
[[nodiscard]] core::Status check_device(core::Backend& backend, const core::Device& device);

}  // namespace latebind::app
