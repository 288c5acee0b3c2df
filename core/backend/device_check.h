// Checks a device by running a tiny model on it. May be called from any thread.
#pragma once

#include "core/backend/backend.h"
#include "core/backend/device.h"

namespace latebind::core {

struct DeviceCheck {
  // Why the device did not compute the model. kUnsupported: it takes none of the tiny models.
  Status status{};
  // The device computed something, but something else.
  bool is_wrong = false;
};

// Loads and runs the first tiny model that the device takes, in f32 or else in the device's own precision, and compares
// the result.
[[nodiscard]] DeviceCheck check_device(Backend& backend, const Device& device);

}  // namespace latebind::core
