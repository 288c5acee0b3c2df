// DeviceTraits: what a device can do and what it is good for, as far as its backend knows. Placement, compiling and
// verification decide by them. Values.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/config.h"

namespace latebind::core {

// Whether the compiler for a virtual device is installed. A vendor's plug-in need not report it.
enum class TargetCompiler : std::uint8_t { kUnknown, kMissing, kInstalled };

// The traits of a virtual device only: it is not in this machine, but models can be compiled for it.
struct VirtualTraits {
  TargetCompiler compiler = TargetCompiler::kUnknown;
  // What to install if the compiler is missing, in one line.
  std::string missing{};
  // The device can run models here in its vendor's emulator (CompileOptions::emulate).
  bool is_emulated = false;

  friend bool operator==(const VirtualTraits&, const VirtualTraits&) = default;
};

struct DeviceTraits {
  // The precisions in which the device computes; the first one is the default of a device without f32. Empty when the
  // backend does not know.
  std::vector<Precision> precisions{};
  // The device runs only models that Latebind builds as a Graph, and no model from a file.
  bool graphs_only = false;
  // Why such a device refuses a model without a graph.
  static constexpr const char* kNeedsGraph =
      "it runs embedding models with their config.json and weights, and nothing else";
  // The device needs models with static input shapes. NPUs do in any case.
  bool static_shapes = false;
  // The precisions in which the device comes before others of its kind, for models whose graph it can run, and the
  // reason for people.
  std::vector<Precision> preferred_in{};
  std::string preferred_because{};
  // The hardware's architecture as compile targets name it: "v12.55.8", "4000". An architecture that is not one word is
  // for people only. Empty when unknown.
  std::string architecture{};
  // The execution provider that runs the device's models, as a bundle names it. Empty for devices without a provider.
  std::string provider{};
  // The PCI id of the hardware, "8086:46a6"; empty when unknown.
  std::string pci_id{};
  // Set when the device is virtual.
  std::optional<VirtualTraits> virtual_device{};

  [[nodiscard]] bool computes_in(Precision precision) const;
  [[nodiscard]] bool is_preferred_in(Precision precision) const;

  friend bool operator==(const DeviceTraits&, const DeviceTraits&) = default;
};

// Returns the traits that are set as reports print them: CamelCase words and texts, "GraphsOnly" = "1". `backend` is
// the device's backend.
[[nodiscard]] std::map<std::string, std::string> texts_of(const DeviceTraits& traits, const std::string& backend);

// Whether texts_of() uses this word. Metadata from a vendor must not use it.
[[nodiscard]] bool is_trait_word(std::string_view word);

// Returns the words of the precisions, separated by commas: "f32,bf16".
[[nodiscard]] std::string words_of(const std::vector<Precision>& precisions);

}  // namespace latebind::core
