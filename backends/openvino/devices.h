// The devices that OpenVINO has in this machine now, with what it knows about each.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "backends/openvino/vendor_core.h"
#include "core/device.h"

namespace latebind::openvino {

inline constexpr const char* kBackendName = "openvino";

// The vendor's names alone, which is the cheaper question.
[[nodiscard]] core::Result<std::vector<std::string>> device_names(const VendorCore& core);

[[nodiscard]] core::Result<std::vector<core::Device>> list_devices(const VendorCore& core);

// The vendor's name for people; the device's own name when it has none.
[[nodiscard]] std::string full_name_of(const VendorCore& core, const std::string& device);

// "4000" of an NPU that is there; empty for other devices, and when it does not say.
[[nodiscard]] std::string npu_architecture_of(const VendorCore& core, const std::string& device);

// kUnsupported for a target that is only virtual here. Else kDeviceNotFound, with what there is, unless `device` is
// there now. "GPU" stands for "GPU.0" as it does for the vendor.
[[nodiscard]] core::Status check_present(const VendorCore& core, std::string_view device);

}  // namespace latebind::openvino
