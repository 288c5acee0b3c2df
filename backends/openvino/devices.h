// The devices that OpenVINO finds in this machine, with what it reports about each. Functions may be called from any
// thread.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "backends/openvino/vendor_core.h"
#include "core/backend/device.h"
#include "core/backend/executable.h"

namespace latebind::openvino {

inline constexpr const char* kBackendName = "openvino";

// Only the vendor's names of the devices, which is cheaper than list_devices(). If the system reports neither GPU nor
// NPU (has_no_accelerator()), and the library has only the vendor's own plugins, the result is the CPU alone, without
// asking the vendor: its list opens all plugins, which takes longer than everything else. `system_root` is a fake root
// in tests.
[[nodiscard]] core::Result<std::vector<std::string>> device_names(const VendorCore& core,
                                                                  const std::filesystem::path& system_root = "/");

[[nodiscard]] core::Result<std::vector<core::Device>> list_devices(const VendorCore& core);

// The vendor's descriptive name, or the device's own name if there is no other.
[[nodiscard]] std::string full_name_of(const VendorCore& core, const std::string& device);

// "4000" for an NPU that is present; empty for other devices, and if the vendor does not report it.
[[nodiscard]] std::string npu_architecture_of(const VendorCore& core, const std::string& device);

// Ok if `device` is present now. Otherwise kUnsupported for a target that is only virtual here, and kDeviceNotFound,
// listing the devices, for all others. "GPU" stands for "GPU.0", as it does for the vendor.
[[nodiscard]] core::Status check_present(const VendorCore& core, std::string_view device);

// Returns kUnsupported for a precision that a CPU does not list as supported. The vendor would emulate bf16, fifteen
// times slower than f32, and report it as active.
[[nodiscard]] core::Status check_precision(const VendorCore& core, const std::string& device,
                                           core::Precision precision);

}  // namespace latebind::openvino
