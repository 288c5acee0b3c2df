// Device: something a backend can run on, or compile for.
#pragma once

#include <map>
#include <string>
#include <string_view>

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
  // Other known facts: architecture, driver, DiscoveredBy, IsVirtual … Keys are CamelCase words.
  std::map<std::string, std::string> metadata;

  // The device's id: "openvino:CPU".
  [[nodiscard]] std::string id() const { return backend + ":" + name; }
  // Returns the metadata of this key, or an empty text.
  [[nodiscard]] std::string metadata_at(const std::string& key) const;
  // Whether the device is not in this machine but can be compiled for: IsVirtual is 1 in its metadata.
  [[nodiscard]] bool is_virtual() const;
  // Whether the device runs only models that Latebind builds as a Graph, and no model from a file: GraphsOnly is 1 in
  // its metadata.
  [[nodiscard]] bool runs_graphs_only() const;
  // Why such a device refuses a model without a graph.
  static constexpr const char* kNeedsGraph =
      "it runs embedding models with their config.json and weights, and nothing else";
  // Whether the device comes before others of its kind for models that it knows, in this precision: PreferredIn in its
  // metadata lists the precision.
  [[nodiscard]] bool is_preferred_in(Precision precision) const;
  // Whether Precisions in the device's metadata lists the precision.
  [[nodiscard]] bool computes_in(Precision precision) const;
  // Returns the compile target, such as "cpu", "gpu:v12.55.8" or "npu:v73": the kind and, for a GPU or an NPU, the
  // Architecture in the metadata if that is one word.
  [[nodiscard]] std::string target() const;
};

}  // namespace latebind::core
