#include "backends/openvino/devices.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <optional>
#include <system_error>
#include <utility>

#include "backends/openvino/properties.h"
#include "backends/openvino/targets.h"
#include "core/platform/accelerators.h"
#include "core/platform/files/folders.h"

namespace latebind::openvino {
namespace {

using core::Device;
using core::DeviceKind;
using core::Result;
using core::Status;
using core::StatusCode;

// Limits for what a damaged library might report.
constexpr std::size_t kDevicesMax = 256;
constexpr std::size_t kTextMax = 4096;

constexpr const char* kArchitecture = "DEVICE_ARCHITECTURE";
constexpr const char* kCapabilities = "OPTIMIZATION_CAPABILITIES";

// Pairs of the vendor's key and Latebind's. Each device is asked for all of them; unknown ones are left out.
constexpr std::array kMetadata{
    std::pair{kCapabilities, "Capabilities"},
    std::pair{"DEVICE_TYPE", "Type"},
    std::pair{"DEVICE_UUID", "Uuid"},
    std::pair{"DEVICE_PCI_INFO", "PciAddress"},
    std::pair{"RANGE_FOR_STREAMS", "StreamsRange"},
    std::pair{"NPU_DRIVER_VERSION", "DriverVersion"},
    std::pair{"NPU_COMPILER_VERSION", "CompilerVersion"},
};

std::optional<std::string> property(const VendorCore& core, const std::string& device, const char* key) {
  const abi::Api& api = core.library->api;
  char* value = nullptr;
  if (api.ov_core_get_property(core.core.get(), device.c_str(), key, &value) != abi::kOk || value == nullptr) {
    return std::nullopt;
  }
  std::string text = std::string(value).substr(0, kTextMax);
  api.ov_free(value);
  while (!text.empty() && text.back() == ' ')
    text.pop_back();
  if (text.empty()) return std::nullopt;
  return text;
}

DeviceKind kind_of(const std::string& name) {
  const std::string base = device_base(name);
  if (base == "CPU") return DeviceKind::kCpu;
  if (base == "GPU") return DeviceKind::kGpu;
  if (base == "NPU") return DeviceKind::kNpu;
  return DeviceKind::kOther;
}

// Whether the plugins are beside the library, as in the vendor's wheels and archives, and no file names others.
bool has_only_own_plugins(const Library& library) {
  const std::filesystem::path folder = platform::path_from_utf8(library.file).parent_path();
  std::error_code error;
  const auto is_there = [&](const char* name) { return std::filesystem::exists(folder / name, error); };
  const bool has_some = is_there("libopenvino_intel_gpu_plugin.so") || is_there("libopenvino_intel_npu_plugin.so");
  return has_some && !is_there("plugins.xml") && !error;
}

}  // namespace

Result<std::vector<std::string>> device_names(const VendorCore& core, const std::filesystem::path& system_root) {
  constexpr const char* kProcessor = "CPU";
  if (has_only_own_plugins(*core.library) && platform::has_no_accelerator(system_root) &&
      property(core, kProcessor, "FULL_DEVICE_NAME")) {
    return std::vector<std::string>{kProcessor};
  }
  const abi::Api& api = core.library->api;
  abi::Devices given{};
  if (const auto code = api.ov_core_get_available_devices(core.core.get(), &given); code != abi::kOk) {
    return core.library->error(StatusCode::kDeviceFailed, "OpenVINO cannot list its devices", code);
  }
  std::vector<std::string> names;
  for (std::size_t i = 0; i < std::min(given.size, kDevicesMax); ++i) {
    if (given.names[i] != nullptr) names.emplace_back(given.names[i]);
  }
  api.ov_available_devices_free(&given);
  return names;
}

Result<std::vector<Device>> list_devices(const VendorCore& core) {
  LB_ASSIGN_OR_RETURN(auto names, device_names(core));
  std::vector<Device> devices;
  for (std::string& name : names) {
    Device device;
    device.backend = kBackendName;
    device.kind = kind_of(name);
    device.full_name = full_name_of(core, name);
    device.runtime_version = core.library->version;
    for (const auto& [vendor_key, key] : kMetadata) {
      if (auto value = property(core, name, vendor_key)) device.metadata.emplace(key, *std::move(value));
    }
    // In the form of target names, so that a blob compiled for a target is recognised as fitting this device.
    std::string architecture = property(core, name, kArchitecture).value_or("");
    if (device.kind == DeviceKind::kNpu) architecture = npu_architecture(architecture);
    if (device.kind == DeviceKind::kGpu) architecture = gpu_architecture(architecture);
    device.traits.architecture = std::move(architecture);
    device.name = std::move(name);
    devices.push_back(std::move(device));
  }
  return devices;
}

std::string npu_architecture_of(const VendorCore& core, const std::string& device) {
  if (kind_of(device) != DeviceKind::kNpu) return {};
  return npu_architecture(property(core, device, kArchitecture).value_or(""));
}

std::string full_name_of(const VendorCore& core, const std::string& device) {
  return property(core, device, "FULL_DEVICE_NAME").value_or(device);
}

Status check_present(const VendorCore& core, std::string_view device) {
  LB_ASSIGN_OR_RETURN(const auto names, device_names(core));
  const auto is_asked_for = [&](const std::string& name) {
    return name == device || name == std::string(device) + ".0";
  };
  if (std::ranges::any_of(names, is_asked_for)) return {};
  if (const auto target = find_target(device); target.ok() && *target != nullptr) {
    return Status(
        StatusCode::kUnsupported,
        fmt::format(
            "openvino:{} is a virtual device: models can be compiled for it here, and run on machines that have it",
            device));
  }
  std::string known;
  for (const std::string& name : names)
    known += (known.empty() ? "" : ", ") + name;
  return Status(StatusCode::kDeviceNotFound,
                fmt::format("OpenVINO {} has no device {} on this machine; it has {}", core.library->version, device,
                            known.empty() ? "none" : known));
}

Status check_precision(const VendorCore& core, const std::string& device, core::Precision precision) {
  const char* const vendors_word = precision == core::Precision::kBF16  ? "BF16"
                                   : precision == core::Precision::kF16 ? "FP16"
                                                                        : nullptr;
  if (vendors_word == nullptr || device_base(device) != "CPU") return {};
  const auto listed = property(core, device, kCapabilities);
  // A device that does not list its precisions is checked after compiling, by what the vendor reports as active.
  if (!listed || listed->find(vendors_word) != std::string::npos) return {};
  return Status(
      StatusCode::kUnsupported,
      fmt::format(
          "openvino:{} cannot compute in {}: this processor has no instructions for it; choose another precision",
          device, core::word_of(precision)));
}

}  // namespace latebind::openvino
