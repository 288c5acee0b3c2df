#include "backends/onnxruntime/plugin_providers.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "backends/onnxruntime/needed_libraries.h"
#include "backends/onnxruntime/targets.h"
#include "core/log.h"
#include "core/platform/dynamic_library.h"
#include "core/platform/files/folders.h"
#include "core/platform/process_generation.h"
#include "core/text/ascii.h"
#include "core/text/name_character.h"
#include "core/vendor/hardware_note.h"

namespace latebind::onnxruntime {
namespace {

using core::Device;
using core::DeviceKind;
using core::Result;
using core::Status;
using core::StatusCode;

// Limits for a provider's metadata, which come from outside.
constexpr std::size_t kDeviceMetadataMax = 64;
constexpr std::size_t kDeviceTextMax = 1024;
constexpr std::size_t kDevicesMax = 64;
constexpr std::string_view kProviderSuffix = "ExecutionProvider";

// Registering changes the process's only environment, whichever object does it.
core::Mutex& registration_mutex() {
  static platform::PerProcess<core::Mutex> mutex;
  return mutex.get();
}

std::string text_of(const char* text) {
  return text == nullptr ? std::string() : std::string(text).substr(0, kDeviceTextMax);
}

// Replaces characters that have a meaning in placements, such as commas and colons.
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

// The reason for a device that only_compiles().
std::string why_it_only_compiles(const PluginDevice& device) {
  const KnownProvider* const known = known_provider(device.provider);
  std::string targets;
  if (known != nullptr) {
    for (const Target& target : known->targets)
      targets += fmt::format("{}{}", targets.empty() ? "" : ", ", device_name({known, &target}));
  }
  return fmt::format(
      "the hardware of {} is not in this machine, and its CPU device does not run models: its compiler works there, "
      "for {} (`latebind devices --virtual`)",
      device.provider, targets);
}

PluginDevice describe(const Environment& environment, const abi::EpDevice* handle, const std::string& file) {
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

Result<std::vector<const abi::EpDevice*>> handles_of(const Environment& environment) {
  const abi::EpDevice* const* handles = nullptr;
  std::size_t count = 0;
  LB_ORT_RETURN_IF_ERROR(environment.library(),
                         environment.library().plugin.GetEpDevices(environment.env(), &handles, &count),
                         "ONNX Runtime does not list the devices of its providers");
  return std::vector(handles, handles + count);
}

}  // namespace

std::string registration_name(const std::string& file) {
  const std::string_view name = core::last_part(file);
  if (const KnownProvider* known = known_provider_of_file(name, core::own_system()))
    return std::string(known->provider);
  constexpr std::string_view kPart = "onnxruntime_providers_";
  std::string_view stem = name;
  if (const auto part = stem.find(kPart); part != std::string_view::npos) stem.remove_prefix(part + kPart.size());
  return plain_word(stem.substr(0, stem.find('.')));
}

Result<std::vector<PluginDevice>> register_provider(const Environment& environment, const std::string& file) {
  const Library& library = environment.library();
  if (!library.plugin.has_devices()) {
    return Status(StatusCode::kUnsupported, fmt::format("plugin providers need ONNX Runtime 1.{} or newer; this is {}",
                                                        abi::kDevicesSince, library.version));
  }
  const auto path = platform::path_from_utf8(file);
  const KnownProvider* const known = known_provider_of_file(core::last_part(file), core::own_system());
  const auto explained = [&](Status failure) {
    return known != nullptr ? with_remedy(*known, std::move(failure)) : failure;
  };
  if (known != nullptr) open_needed_libraries(*known, file, library.file);
  // Keeps the library in the process when ONNX Runtime closes it. The loader's error is also clearer than the vendor's.
  const auto pin = [&]() -> Status {
    auto pinned = platform::DynamicLibrary::open(path);
    if (!pinned.ok()) return explained(pinned.status());
    pinned->leak();
    return {};
  };
  // A library that is part of ONNX Runtime needs symbols that ONNX Runtime provides when it opens the library itself.
  const bool of_runtime = known != nullptr && known->of_runtime;
  if (!of_runtime) LB_RETURN_IF_ERROR(pin());

  const std::string name = registration_name(file);
  const core::LogHold hold;
  const core::MutexLock lock(registration_mutex());
  LB_ASSIGN_OR_RETURN(const auto before, handles_of(environment));
  const auto is_of_file = [&](const abi::EpDevice* handle) {
    if (handle == nullptr) return false;
    const auto metadata = pairs_of(library.plugin, library.plugin.EpDevice_EpMetadata(handle));
    const auto found = metadata.find("library_path");
    return found != metadata.end() && found->second == file;
  };
  // Another user of ONNX Runtime in this process may have registered the file, since there is one environment. A second
  // registration is refused, but afterwards some providers crash (onnxruntime-ep-webgpu 0.4.0), so it is not attempted.
  bool was_there = std::ranges::any_of(before, is_of_file);
  abi::Status* failure =
      was_there ? nullptr
                : library.plugin.RegisterExecutionProviderLibrary(environment.env(), name.c_str(), path.c_str());
  if (failure != nullptr) {
    const char* text = library.api.GetErrorMessage(failure);
    // Registered already, although it has no device.
    was_there = text != nullptr && std::string_view(text).find("already registered") != std::string_view::npos;
    if (!was_there) {
      return explained(library.error_by_kind(
          StatusCode::kDeviceFailed, fmt::format("ONNX Runtime cannot register the provider {}", file), failure));
    }
    library.api.ReleaseStatus(failure);
  }
  if (of_runtime) LB_RETURN_IF_ERROR(pin());
  LB_ASSIGN_OR_RETURN(const auto after, handles_of(environment));
  std::vector<PluginDevice> devices;
  for (const abi::EpDevice* handle : after) {
    if (handle == nullptr || devices.size() >= kDevicesMax) continue;
    if (!was_there) {
      if (std::ranges::find(before, handle) == before.end()) devices.push_back(describe(environment, handle, file));
      continue;
    }
    if (is_of_file(handle)) devices.push_back(describe(environment, handle, file));
  }
  return devices;
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

PluginProviders::PluginProviders(std::shared_ptr<const Environment> environment, PluginOptions options)
    : environment_(std::move(environment)), options_(std::move(options)) {}

std::vector<PluginDevice> PluginProviders::devices() {
  const core::LogHold hold;
  const core::MutexLock lock(mutex_);
  look();
  return offered().to_run;
}

Result<PluginDevice> PluginProviders::find(std::string_view name) {
  const core::MutexLock lock(mutex_);
  look();
  auto [found, compilers] = offered();
  std::string names;
  for (PluginDevice& one : found) {
    if (one.device.name == name) return std::move(one);
    names += ", " + one.device.name;
  }
  for (const PluginDevice& one : compilers) {
    if (one.device.name != name) continue;
    return Status(StatusCode::kUnsupported, fmt::format("onnxruntime:{}: {}", name, why_it_only_compiles(one)));
  }
  return Status(StatusCode::kDeviceNotFound, fmt::format("onnxruntime has no device '{}'; it has CPU{}", name, names));
}

Result<PluginDevice> PluginProviders::any_of(std::string_view provider) {
  const core::LogHold hold;
  const core::MutexLock lock(mutex_);
  look();
  // Devices with the vendor's hardware precede the CPU, on which only the compiler runs.
  const auto [to_run, to_compile] = offered();
  std::optional<PluginDevice> best;
  for (const PluginDevice& one : to_run) {
    if (one.provider == provider && (!best || best->device.kind == DeviceKind::kCpu)) best = one;
  }
  const auto compiler = std::ranges::find(to_compile, provider, &PluginDevice::provider);
  if (!best && compiler != to_compile.end()) best = *compiler;
  if (best) return *std::move(best);
  const KnownProvider* const known = known_provider(provider);
  for (const Known& one : known_) {
    if (registration_name(one.file) != provider) continue;
    if (!one.refusal.ok()) return one.refusal;
    return Status(StatusCode::kNoDevice, fmt::format("{} offers no device on this machine", one.file));
  }
  return Status(StatusCode::kLibraryNotFound,
                fmt::format("{} was not found{}{}", provider, known != nullptr ? ": " : "",
                            known != nullptr ? install_command(*known) : ""));
}

std::string PluginProviders::why_not(std::string_view device) {
  const KnownProvider* const known = known_provider_of_device(device);
  if (known == nullptr) return {};
  const auto found = any_of(known->provider);
  return found.ok() ? std::string() : std::string(found.status().message());
}

std::vector<core::UnavailablePart> PluginProviders::unavailable() {
  const core::LogHold hold;
  const core::MutexLock lock(mutex_);
  if (trace_.empty() && known_.empty()) look();
  std::vector<core::UnavailablePart> parts;
  for (const Known& one : known_) {
    const std::string name = registration_name(one.file);
    if (!one.refusal.ok()) {
      parts.push_back({name, one.refusal.to_string()});
    } else if (one.registered && one.devices.empty()) {
      parts.push_back({name, fmt::format("{} offers no device on this machine", one.file)});
    }
  }
  for (const PluginDevice& one : offered().to_compile)
    parts.push_back({one.device.name, why_it_only_compiles(one)});
  return parts;
}

std::vector<core::SearchStep> PluginProviders::trace() {
  const core::LogHold hold;
  const core::MutexLock lock(mutex_);
  look();
  return trace_;
}

OfferedDevices PluginProviders::offered() const {
  std::vector<PluginDevice> all;
  for (const Known& one : known_)
    all.insert(all.end(), one.devices.begin(), one.devices.end());
  return sort_devices(std::move(all));
}

void PluginProviders::ask(Known& known) {
  const Library& library = environment_->library();
  if (!library.plugin.has_devices()) {
    known.refusal =
        Status(StatusCode::kUnsupported, fmt::format("plugin providers need ONNX Runtime 1.{} or newer; this is {}",
                                                     abi::kDevicesSince, library.version));
    return;
  }
  // Without the driver, not even a process is started.
  if (const KnownProvider* const one = known_provider_of_file(core::last_part(known.file), core::own_system())) {
    known.refusal = check_driver(*one);
    known.asked = std::chrono::steady_clock::now();
    if (!known.refusal.ok()) return;
  }
  known.refusal = try_provider(options_.trial, library.file, library.version, known.file);
  known.asked = std::chrono::steady_clock::now();  // taken after the trial, which may have taken longer than
                                                   // refusal_time
  if (!known.refusal.ok()) return;
  auto devices = register_provider(*environment_, known.file);
  known.refusal = devices.status();
  if (!devices.ok()) return;
  known.registered = true;
  known.devices = *std::move(devices);
}

void PluginProviders::look() {
  trace_.clear();
  const auto facts = ProviderFacts::gather(options_.paths, environment_->library().file);
  for (const auto& candidate : provider_list(facts, core::FileSystem::real())) {
    trace_.push_back({candidate.place, candidate.source, candidate.why_not, false});
    if (!candidate.why_not.empty()) continue;
    auto found = std::ranges::find(known_, candidate.place, &Known::file);
    if (found == known_.end()) {
      known_.push_back({.file = candidate.place, .source = candidate.source, .devices = {}});
      found = known_.end() - 1;
    }
    const bool refused_now =
        !found->refusal.ok() && std::chrono::steady_clock::now() - found->asked < options_.refusal_time;
    if (!found->registered && !refused_now) ask(*found);
    core::SearchStep& step = trace_.back();
    step.opened = found->registered;
    step.outcome =
        found->registered ? fmt::format("registered, {} devices", found->devices.size()) : found->refusal.to_string();
  }
}

}  // namespace latebind::onnxruntime
