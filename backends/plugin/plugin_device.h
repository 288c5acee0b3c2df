// Devices that a plug-in describes, checked and in core's words. Pure functions, for any thread.
#pragma once

#include <cstdint>
#include <string_view>

#include "backends/plugin/host.h"
#include "core/config.h"
#include "core/result.h"

namespace latebind::plugin {

// Checks the device and adds it to the list. kInternal names what is wrong with it.
[[nodiscard]] core::Status add_to(lbb_devices& devices, const lbb_device* device);

// Returns the precision of a loaded model or of a device: any but kFast. kInternal, and `what`, for other numbers.
[[nodiscard]] core::Result<core::Precision> precision_of(std::string_view what, std::int32_t number);

}  // namespace latebind::plugin
