// The devices that OpenVINO finds in this machine now, with what it knows about each.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "backends/openvino/vendor_core.h"
#include "core/device.h"
#include "core/executable.h"

namespace latebind::openvino {

inline constexpr const char* kBackendName = "openvino";

// Only the vendor's names, which is cheaper. Where the system says that there is neither GPU nor NPU
// (has_no_accelerator()), and only the vendor's own plugins are there to be asked, the CPU alone is: the vendor's list
// opens the plugins of all, which takes longer than all else that is asked of it. `system_root`: a fake one in tests.
[[nodiscard]] core::Result<std::vector<std::string>> device_names(const VendorCore& core,
                                                                  const std::filesystem::path& system_root = "/");

[[nodiscard]] core::Result<std::vector<core::Device>> list_devices(const VendorCore& core);

// The vendor's name for people; the device's own name when it has none.
[[nodiscard]] std::string full_name_of(const VendorCore& core, const std::string& device);

// "4000" of an NPU that is present; empty for other devices, and when it is not reported.
[[nodiscard]] std::string npu_architecture_of(const VendorCore& core, const std::string& device);

// kUnsupported for a target that is only virtual here. Else kDeviceNotFound, listing the devices, unless `device` is
// present now. "GPU" stands for "GPU.0" as it does for the vendor.
[[nodiscard]] core::Status check_present(const VendorCore& core, std::string_view device);

// kUnsupported for a precision that a CPU does not name among those in which it computes. The vendor would emulate
// bf16, fifteen times slower than f32, and say that it is active.
[[nodiscard]] core::Status check_precision(const VendorCore& core, const std::string& device,
                                           core::Precision precision);

}  // namespace latebind::openvino
