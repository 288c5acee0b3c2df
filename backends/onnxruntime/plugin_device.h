// The devices that plugin execution providers offer: what is known of each, and their names. Pure functions, any
// thread.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "backends/onnxruntime/environment.h"
#include "core/backend/device.h"

namespace latebind::onnxruntime {

// A provider on one piece of hardware.
struct PluginDevice {
  core::Device device;
  const abi::EpDevice* handle = nullptr;  // owned by the environment
  std::string provider;                   // "QNNExecutionProvider"
  std::string library;                    // the provider's file
};

// Describes a device with the metadata that its provider, which is in `file`, reports. The device has no name yet.
[[nodiscard]] PluginDevice describe_device(const Environment& environment, const abi::EpDevice* handle,
                                           const std::string& file);
[[nodiscard]] std::map<std::string, std::string> pairs_of(const abi::PluginApi& api, const abi::KeyValuePairs* pairs);

// Replaces characters that have a meaning in placements, such as commas and colons.
[[nodiscard]] std::string plain_word(std::string_view text);

// Gives each device a unique name other than "CPU": "QNN" for QNNExecutionProvider, followed by kind and number if a
// provider offers several.
void name_devices(std::vector<PluginDevice>& devices);

// The named devices of providers. `to_compile` are the CPUs that only_compiles() excludes, for providers whose hardware
// is absent.
struct OfferedDevices {
  std::vector<PluginDevice> to_run;
  std::vector<PluginDevice> to_compile;
};
[[nodiscard]] OfferedDevices sort_devices(std::vector<PluginDevice> devices);

}  // namespace latebind::onnxruntime
