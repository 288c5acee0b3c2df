#include "backends/plugin/plugin_device.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/text/ascii.h"
#include "core/text/name_character.h"
#include "core/text/one_line.h"
#include "core/text/quote.h"

namespace latebind::plugin {
namespace {

using core::Precision;
using core::Result;
using core::Status;

constexpr std::size_t kNameOfDeviceMax = 64;
constexpr std::size_t kPrecisionsMax = 16;
// What the host adds to a device's facts. Blobs of another build of the plug-in have another key in the compile cache.
constexpr const char* kPluginVersion = "PluginVersion";
constexpr const char* kPluginDigest = "PluginDigest";
constexpr const char* kMemory = "MemoryBytes";

Status device_breach(std::string_view text) {
  return breach(fmt::format("a device {}", text));
}

Result<std::vector<Precision>> precisions_of(const char* what, const std::int32_t* list, std::size_t count,
                                             bool may_be_fast) {
  if (count > kPrecisionsMax || (count > 0 && list == nullptr))
    return device_breach(fmt::format("has no list of {}", what));
  std::vector<Precision> precisions;
  for (std::size_t i = 0; i < count; ++i) {
    if (may_be_fast && list[i] == LBB_PRECISION_FAST) {
      precisions.push_back(Precision::kFast);
      continue;
    }
    LB_ASSIGN_OR_RETURN(const Precision precision, precision_of("a device", list[i]));
    precisions.push_back(precision);
  }
  return precisions;
}

bool is_fact_key(std::string_view key) {
  return !key.empty() && core::is_ascii_letter(key.front()) &&
         std::ranges::all_of(key, [](char c) { return core::is_ascii_letter(c) || core::is_ascii_digit(c); });
}

Status read_facts(const lbb_device& given, core::Device& device) {
  return read_list("a fact of a device", given.facts, given.fact_count, [&](const lbb_pair& fact) -> Status {
    LB_ASSIGN_OR_RETURN(const std::string key, text_of("the key of a device's fact", fact.key));
    LB_ASSIGN_OR_RETURN(const std::string text, text_of("the text of a device's fact", fact.text, kTextMax));
    const bool is_taken = core::is_trait_word(key) || key == kPluginVersion || key == kPluginDigest || key == kMemory;
    if (!is_fact_key(key) || is_taken)
      return device_breach(fmt::format("has a fact {}, which {}", core::quoted(key),
                                       is_taken ? "is Latebind's word" : "is not one word of letters and digits"));
    device.metadata[key] = core::one_line(text);
    return {};
  });
}

Status read_virtual(const lbb_device& given, core::Device& device) {
  if (given.is_virtual == 0) return {};
  LB_ASSIGN_OR_RETURN(const std::string missing, optional_text_of("what a virtual device misses", given.missing));
  device.traits.virtual_device.emplace();
  device.traits.virtual_device->compiler =
      missing.empty() ? core::TargetCompiler::kInstalled : core::TargetCompiler::kMissing;
  device.traits.virtual_device->missing = core::one_line(missing);
  device.traits.virtual_device->is_emulated = given.is_emulated != 0;
  return {};
}

Status read_traits(const lbb_device& given, core::DeviceTraits& traits) {
  LB_ASSIGN_OR_RETURN(traits.precisions,
                      precisions_of("precisions", given.precisions, given.precision_count, /*may_be_fast=*/false));
  if (traits.precisions.empty()) return device_breach("computes in no precision");
  traits.graphs_only = given.reads == LBB_READS_GRAPH;
  traits.static_shapes = given.static_shapes != 0;
  LB_ASSIGN_OR_RETURN(traits.preferred_in, precisions_of("preferred precisions", given.preferred_in,
                                                         given.preferred_count, /*may_be_fast=*/true));
  LB_ASSIGN_OR_RETURN(const std::string because,
                      optional_text_of("why a device is preferred", given.preferred_because));
  traits.preferred_because = core::one_line(because);
  LB_ASSIGN_OR_RETURN(traits.architecture, optional_text_of("the architecture of a device", given.architecture));
  LB_ASSIGN_OR_RETURN(traits.pci_id, optional_text_of("the PCI id of a device", given.pci_id));
  return {};
}

}  // namespace

Result<Precision> precision_of(std::string_view what, std::int32_t number) {
  if (number >= LBB_PRECISION_F32 && number <= LBB_PRECISION_INT8) return static_cast<Precision>(number);
  return breach(fmt::format("{} computes in the precision {}, which is none", what, number));
}

Status add_to(lbb_devices& devices, const lbb_device* device) {
  if (device == nullptr) return device_breach("is null");
  if (!has_size(*device)) return device_breach(fmt::format("has the size {}", device->struct_size));
  const lbb_device given = read_struct(*device);
  core::Device made;
  made.backend = devices.backend;
  LB_ASSIGN_OR_RETURN(made.name, text_of("the name of a device", given.name));
  if (made.name.empty() || made.name.size() > kNameOfDeviceMax ||
      !std::ranges::all_of(made.name, core::is_name_character))
    return device_breach(
        fmt::format("has the name {}, which is not letters, digits, '.', '_' and '-'", core::quoted(made.name)));
  const auto named = [&](const Status& status) { return status.with_context(made.name); };
  if (std::ranges::find(devices.devices, made.name, &core::Device::name) != devices.devices.end())
    return named(device_breach("has the name of another one"));
  if (given.kind < LBB_KIND_CPU || given.kind > LBB_KIND_OTHER)
    return named(device_breach(fmt::format("has the kind {}, which is none", given.kind)));
  made.kind = static_cast<core::DeviceKind>(given.kind);
  auto full_name = text_of("the full name of a device", given.full_name);
  if (!full_name.ok()) return named(full_name.status());
  made.full_name = core::one_line(*full_name);
  auto version = optional_text_of("the version of a device's runtime", given.runtime_version);
  if (!version.ok()) return named(version.status());
  made.runtime_version = version->empty() ? devices.version : core::one_line(*version);
  if ((given.reads & (LBB_READS_GRAPH | LBB_READS_ONNX | LBB_READS_IR)) == 0)
    return named(device_breach(fmt::format("reads no form of a model ({})", given.reads)));
  if (const Status status = read_traits(given, made.traits); !status.ok()) return named(status);
  if (const Status status = read_virtual(given, made); !status.ok()) return named(status);
  if (const Status status = read_facts(given, made); !status.ok()) return named(status);
  if (given.memory != 0) made.metadata[kMemory] = std::to_string(given.memory);
  made.metadata[kPluginVersion] = devices.version;
  if (!devices.digest.empty()) made.metadata[kPluginDigest] = devices.digest;
  devices.devices.push_back(std::move(made));
  devices.reads.push_back(given.reads);
  return {};
}

}  // namespace latebind::plugin
