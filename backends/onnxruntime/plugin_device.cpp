#include "backends/onnxruntime/plugin_device.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <utility>

#include "backends/onnxruntime/targets.h"
#include "core/text/ascii.h"
#include "core/text/name_character.h"
#include "core/vendor/hardware_note.h"

namespace latebind::onnxruntime {

using core::Device;
using core::DeviceKind;

namespace {

// Limits for a provider's metadata, which come from outside.
constexpr std::size_t kDeviceMetadataMax = 64;
constexpr std::size_t kDeviceTextMax = 1024;
constexpr std::string_view kProviderSuffix = "ExecutionProvider";

std::string text_of(const char* text) {
  return text == nullptr ? std::string() : std::string(text).substr(0, kDeviceTextMax);
}

// Converts "library_path" to "LibraryPath", since metadata keys are in CamelCase.
std::string camel_case(std::string_view key) {
  std::string result;
  bool upper = true;
  for (const char c : key) {
    if (!core::is_ascii_letter(c) && !core::is_ascii_digit(c)) {
      upper = true;
      continue;
    }
    result += upper ? core::ascii_upper(c) : c;
    upper = false;
  }
  return result;
}

DeviceKind kind_of(abi::HardwareDeviceType type) {
  switch (type) {
    case abi::kHardwareCpu:
      return DeviceKind::kCpu;
    case abi::kHardwareGpu:
      return DeviceKind::kGpu;
    case abi::kHardwareNpu:
      return DeviceKind::kNpu;
  }
  return DeviceKind::kOther;
}

const char* kind_suffix(DeviceKind kind) {
  switch (kind) {
    case DeviceKind::kCpu:
      return "CPU";
    case DeviceKind::kGpu:
      return "GPU";
    case DeviceKind::kNpu:
      return "NPU";
    case DeviceKind::kOther:
      break;
  }
  return "OTHER";
}

std::string short_name_of(std::string_view provider) {
  if (const KnownProvider* known = known_provider(provider)) return std::string(known->short_name);
  if (provider.size() > kProviderSuffix.size() && provider.ends_with(kProviderSuffix)) {
    provider.remove_suffix(kProviderSuffix.size());
  }
  // The device of ONNX Runtime itself has the name CPU.
  return provider == "CPU" ? "CPU-plugin" : plain_word(provider);
}

}  // namespace

std::string plain_word(std::string_view text) {
  std::string word(text.substr(0, 64));
  std::ranges::replace_if(
      word, [](char c) { return !core::is_name_character(c); }, '_');
  return word.empty() ? "unnamed" : word;
}

std::map<std::string, std::string> pairs_of(const abi::PluginApi& api, const abi::KeyValuePairs* pairs) {
  std::map<std::string, std::string> result;
  if (pairs == nullptr) return result;
  const char* const* keys = nullptr;
  const char* const* values = nullptr;
  std::size_t count = 0;
  api.GetKeyValuePairs(pairs, &keys, &values, &count);
  if (keys == nullptr || values == nullptr) return result;
  for (std::size_t i = 0; i < count && i < kDeviceMetadataMax; ++i)
    result[text_of(keys[i])] = text_of(values[i]);
  return result;
}

PluginDevice describe_device(const Environment& environment, const abi::EpDevice* handle, const std::string& file) {
  const abi::PluginApi& api = environment.library().plugin;
  PluginDevice result;
  result.handle = handle;
  result.provider = text_of(api.EpDevice_EpName(handle));
  result.library = file;
  Device& device = result.device;
  device.backend = "onnxruntime";
  device.runtime_version = environment.library().version;
  auto& metadata = device.metadata;
  const abi::HardwareDevice* hardware = api.EpDevice_Device(handle);
  std::string hardware_vendor;
  if (hardware != nullptr) {
    device.kind = kind_of(api.HardwareDevice_Type(hardware));
    hardware_vendor = text_of(api.HardwareDevice_Vendor(hardware));
    for (auto& [key, value] : pairs_of(api, api.HardwareDevice_Metadata(hardware))) {
      const std::string name = camel_case(key);
      if (name == "Architecture") device.traits.architecture = value;
      if (name == "IsVirtual" && value == "1") device.traits.virtual_device.emplace();
      if (!name.empty() && !core::is_trait_word(name)) metadata[name] = value;
    }
    metadata["HardwareVendor"] = hardware_vendor;
    metadata["HardwareVendorId"] = fmt::format("0x{:04x}", api.HardwareDevice_VendorId(hardware));
    metadata["HardwareDeviceId"] = fmt::format("0x{:04x}", api.HardwareDevice_DeviceId(hardware));
    if (device.kind == DeviceKind::kGpu || device.kind == DeviceKind::kNpu) {
      device.traits.pci_id = core::pci_id(api.HardwareDevice_VendorId(hardware), api.HardwareDevice_DeviceId(hardware));
    }
  }
  for (auto& [key, value] : pairs_of(api, api.EpDevice_EpMetadata(handle))) {
    if (key == "library_path" || key == "version") continue;
    const std::string name = camel_case(key);
    if (!name.empty() && name != "IsVirtual" && name != "DiscoveredBy") metadata["Provider" + name] = value;
  }
  device.traits.provider = result.provider;
  metadata["ProviderLibrary"] = file;
  metadata["ProviderVersion"] = pairs_of(api, api.EpDevice_EpMetadata(handle))["version"];
  metadata["Vendor"] = text_of(api.EpDevice_EpVendor(handle));
  device.full_name = fmt::format("{} on {}{}{}", result.provider, hardware_vendor, hardware_vendor.empty() ? "" : " ",
                                 kind_suffix(device.kind));
  return result;
}

void name_devices(std::vector<PluginDevice>& devices) {
  std::map<std::string, std::size_t> count;
  std::map<std::string, std::size_t> count_of_kind;
  const auto with_kind = [](const PluginDevice& one) {
    return fmt::format("{}.{}", short_name_of(one.provider), kind_suffix(one.device.kind));
  };
  for (const PluginDevice& one : devices) {
    ++count[short_name_of(one.provider)];
    ++count_of_kind[with_kind(one)];
  }
  std::map<std::string, std::size_t> next;
  for (PluginDevice& one : devices) {
    const std::string plain = short_name_of(one.provider);
    const std::string longer = with_kind(one);
    if (count[plain] == 1) {
      one.device.name = plain;
    } else if (count_of_kind[longer] == 1) {
      one.device.name = longer;
    } else {
      one.device.name = fmt::format("{}.{}", longer, next[longer]++);
    }
  }
}

OfferedDevices sort_devices(std::vector<PluginDevice> devices) {
  OfferedDevices offered;
  for (PluginDevice& one : devices)
    (only_compiles(one.provider, one.device.kind) ? offered.to_compile : offered.to_run).push_back(std::move(one));
  name_devices(offered.to_run);
  // If the hardware is present, the name belongs to it.
  std::erase_if(offered.to_compile, [&](const PluginDevice& compiler) {
    return std::ranges::find(offered.to_run, compiler.provider, &PluginDevice::provider) != offered.to_run.end();
  });
  name_devices(offered.to_compile);
  return offered;
}

}  // namespace latebind::onnxruntime
