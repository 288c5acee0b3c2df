// Device: something a backend can run on, or compile for.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "core/backend/device_traits.h"
#include "core/config.h"
#include "core/result.h"

namespace latebind::core {

enum class DeviceKind : std::int32_t { kCpu = 0, kGpu = 1, kNpu = 2, kOther = 3 };
template <>
struct Words<DeviceKind> {
  static constexpr std::string_view kWhat = "kind of device";
  static constexpr std::array kWords{
      Word<DeviceKind>{"cpu", DeviceKind::kCpu}, Word<DeviceKind>{"gpu", DeviceKind::kGpu},
      Word<DeviceKind>{"npu", DeviceKind::kNpu}, Word<DeviceKind>{"other", DeviceKind::kOther}};
};

// A snapshot. Devices come and go, so a Device is a value and says nothing about the present state.
struct Device {
  std::string backend;  // "openvino"
  std::string name;     // as the backend calls it: "CPU", "GPU.1", "NPU.4000"
  DeviceKind kind = DeviceKind::kOther;
  std::string full_name;        // the vendor's name for people: "AMD EPYC …"
  std::string runtime_version;  // of the vendor library that would drive it
  DeviceTraits traits{};
  // What else its vendor reports, such as the driver, for people and for the key of the compile cache. Keys are
  // CamelCase words; none is the word of a trait.
  std::map<std::string, std::string> metadata{};

  // The device's id: "openvino:CPU".
  [[nodiscard]] std::string id() const { return backend + ":" + name; }
  // Whether the device is not in this machine but can be compiled for.
  [[nodiscard]] bool is_virtual() const { return traits.virtual_device.has_value(); }
  // Returns the compile target, such as "cpu", "gpu:v12.55.8" or "npu:v73": the kind and, for a GPU or an NPU, the
  // architecture if that is one word.
  [[nodiscard]] std::string target() const;
  // Returns the metadata and the traits as texts, as reports print them.
  [[nodiscard]] std::map<std::string, std::string> facts() const;
};

}  // namespace latebind::core
