// Whether a device really works: loads a tiny model on it, runs it and checks the numbers.
#pragma once

#include <string_view>

#include "core/backend.h"
#include "core/status.h"

namespace latebind::app {

// `device` is a Device::name. Any error is the reason why it does not work; a wrong result is kDeviceFailed.
[[nodiscard]] core::Status check_device(core::Backend& backend, std::string_view device);

}  // namespace latebind::app
