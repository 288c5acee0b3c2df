// Whether a device really works: loads a tiny model on it, runs it and checks the numbers.
#pragma once

#include "core/backend.h"
#include "core/device.h"
#include "core/status.h"

namespace latebind::app {

// `device` is one of the backend's. Any error is the reason why it does not work; a wrong result is kDeviceFailed.
[[nodiscard]] core::Status check_device(core::Backend& backend, const core::Device& device);

}  // namespace latebind::app
