#include "hosts/onnxruntime/factory.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "hosts/onnxruntime/context_file.h"

namespace latebind::provider {
namespace {

constexpr const char* kVirtualId = "latebind.virtual_device";
// Entries of the environment's configuration: one of the host, and one of this library.
constexpr const char* kAllowVirtual = "allow_virtual_devices";
constexpr const char* kOurEntries = "ep_factory.Latebind.";
constexpr const char* kVirtualDevices = "virtual_devices";

Factory& of(abi::EpFactory* self) {
  return *static_cast<Factory*>(self);
}

void fill(abi::EpFactory& factory) {
  factory.ort_version_supported = abi::kVersion;
  factory.GetName = [](const abi::EpFactory*) -> const char* { return kProviderName; };
  factory.GetVendor = [](const abi::EpFactory*) -> const char* { return "Latebind"; };
  factory.GetVendorId = [](const abi::EpFactory*) -> std::uint32_t { return 0; };
  factory.GetVersion = [](const abi::EpFactory*) -> const char* { return lb_version(); };
  factory.GetSupportedDevices = [](abi::EpFactory* self, const abi::HardwareDevice* const* hardware, std::size_t count,
                                   abi::EpDevice** devices, std::size_t most, std::size_t* made) -> abi::Status* {
    *made = 0;
    abi::Status* failed = of(self).host().guarded([&] { of(self).list(hardware, count, devices, most, made); });
    // The host ignores a list that failed.
    for (; failed != nullptr && *made > 0; --*made)
      of(self).host()->ReleaseEpDevice(std::exchange(devices[*made - 1], nullptr));
    return failed;
  };
  factory.CreateEp = [](abi::EpFactory* self, const abi::HardwareDevice* const* hardware,
                        const abi::KeyValuePairs* const* metadata, std::size_t count,
                        const abi::SessionOptions* options, const abi::Logger* logger, abi::Ep** ep) -> abi::Status* {
    *ep = nullptr;
    const SessionLog log(of(self).host(), logger);
    return of(self).host().guarded([&] {
      *ep = of(self).create(metadata, hardware, count, options, logger);
      of(self).hold();
    });
  };
  factory.ReleaseEp = [](abi::EpFactory* self, abi::Ep* ep) {
    if (ep == nullptr) return;
    delete static_cast<Provider*>(ep);
    of(self).release();
  };
  factory.ValidateCompiledModelCompatibilityInfo = [](abi::EpFactory* self, const abi::HardwareDevice* const* hardware,
                                                      std::size_t count, const char* text,
                                                      abi::Compatibility* compatibility) -> abi::Status* {
    return of(self).host().guarded(
        [&] { *compatibility = of(self).compatibility(hardware, count, text != nullptr ? text : ""); });
  };
  // Null means that the host's own memory is used.
  factory.CreateAllocator = [](abi::EpFactory*, const abi::MemoryInfo*, const abi::KeyValuePairs*,
                               abi::Allocator** allocator) -> abi::Status* {
    *allocator = nullptr;
    return nullptr;
  };
  factory.ReleaseAllocator = [](abi::EpFactory*, abi::Allocator*) {};
  factory.CreateDataTransfer = [](abi::EpFactory*, abi::DataTransferImpl** transfer) -> abi::Status* {
    *transfer = nullptr;
    return nullptr;
  };
  factory.IsStreamAware = [](const abi::EpFactory*) { return false; };
  factory.CreateSyncStreamForDevice = [](abi::EpFactory*, const abi::MemoryDevice*, const abi::KeyValuePairs*,
                                         abi::SyncStreamImpl** stream) -> abi::Status* {
    *stream = nullptr;
    return nullptr;
  };
  factory.GetHardwareDeviceIncompatibilityDetails = [](abi::EpFactory* self, const abi::HardwareDevice* hardware,
                                                       abi::IncompatibilityDetails* details) -> abi::Status* {
    return of(self).host().guarded([&] { of(self).explain(hardware, details); });
  };
  factory.CreateExternalResourceImporterForDevice = [](abi::EpFactory*, const abi::EpDevice*,
                                                       void** importer) -> abi::Status* {
    *importer = nullptr;
    return nullptr;
  };
  factory.GetNumCustomOpDomains = [](abi::EpFactory*, std::size_t* count) -> abi::Status* {
    *count = 0;
    return nullptr;
  };
  factory.GetCustomOpDomains = [](abi::EpFactory*, void**, std::size_t) -> abi::Status* { return nullptr; };
}

std::int32_t kind_of(const Host& host, const abi::HardwareDevice* hardware) {
  switch (host->HardwareDevice_Type(hardware)) {
    case abi::kHardwareGpu:
      return LB_DEVICE_GPU;
    case abi::kHardwareNpu:
      return LB_DEVICE_NPU;
    default:
      return LB_DEVICE_CPU;
  }
}

abi::HardwareDeviceType hardware_type(std::int32_t kind) {
  return kind == LB_DEVICE_NPU ? abi::kHardwareNpu : kind == LB_DEVICE_GPU ? abi::kHardwareGpu : abi::kHardwareCpu;
}

std::string at(const std::map<std::string, std::string>& metadata, const char* key) {
  const auto found = metadata.find(key);
  return found != metadata.end() ? found->second : "";
}

std::string reasons(const Devices& devices) {
  std::string text;
  for (const latebind::Backend& backend : devices.backends) {
    if (backend.available || backend.name == "onnxruntime") continue;
    text += (text.empty() ? "" : "; ") + backend.name + ": " + backend.reason;
    if (!backend.install_hint.empty()) text += " (" + backend.install_hint + ")";
  }
  return text;
}

}  // namespace

Factory::Factory(const abi::ApiBase& base, const char* registered_name, const abi::Logger* logger)
    : abi::EpFactory{},
      host_(base, logger),
      log_(host_),
      registered_name_(registered_name != nullptr ? registered_name : ""),
      runtime_(
          new OwnRuntime{.runtime = std::make_shared<const Runtime>(make_runtime(host_, {}, NestedLibrary::kNone))}) {
  fill(*this);
}

Factory::~Factory() {
  delete runtime_.load();
  for (const VirtualDevice& device : virtual_)
    if (device.hardware != nullptr) host_->ReleaseHardwareDevice(device.hardware);
}

// Lock-free, since a thread of the parent may have held a lock at fork(). The parent's runtime is left untouched.
std::shared_ptr<const Runtime> Factory::runtime() const {
  const OwnRuntime* known = runtime_.load();
  if (known->made.this_process()) return known->runtime;
  auto own = std::make_unique<const OwnRuntime>(
      OwnRuntime{.runtime = std::make_shared<const Runtime>(make_runtime(host_, {}, NestedLibrary::kNone))});
  if (runtime_.compare_exchange_strong(known, own.get())) return own.release()->runtime;
  return known->runtime;
}

const Factory::VirtualDevice* Factory::find_virtual(const abi::HardwareDevice* hardware) const {
  const core::MutexLock lock(mutex_);
  const auto found = std::ranges::find(virtual_, hardware, &VirtualDevice::hardware);
  return found != virtual_.end() ? &*found : nullptr;
}

Factory::Virtual Factory::wanted_virtual_devices() const {
  abi::KeyValuePairs* raw = nullptr;
  host_.check(host_->GetEnvConfigEntries(&raw));
  const Pairs entries(host_, Host::need(raw, "environment's entries"));
  bool all = registered_name_.ends_with(".all.virtual");
  for (const auto& [key, value] : entries.entries()) {
    if (!key.starts_with(kOurEntries)) continue;
    if (key.substr(std::string_view(kOurEntries).size()) != kVirtualDevices ||
        (value != "all" && value != "compiled")) {
      throw Failure(abi::kInvalidArgument, "Latebind: the environment has " + std::string(key.substr(0, 128)) + "=" +
                                               std::string(value.substr(0, 64)) + "; there is only " + kOurEntries +
                                               kVirtualDevices + ", which is compiled or all");
    }
    all = value == "all";
  }
  if (!registered_name_.ends_with(".virtual") && value_of(host_, entries.get(), kAllowVirtual) != "1") {
    return Virtual::kNone;
  }
  return all ? Virtual::kAll : Virtual::kCompiled;
}

void Factory::list(const abi::HardwareDevice* const* hardware, std::size_t count, abi::EpDevice** devices,
                   std::size_t most, std::size_t* made) {
  // Errors in the entries are reported before any device is created.
  const Virtual wanted = wanted_virtual_devices();
  const auto found = devices_of(*runtime());
  if (!found.ok()) throw failure_of("Latebind: devices", found.status());
  for (std::size_t i = 0; i < count && *made < most; ++i) {
    const std::int32_t kind = kind_of(host_, hardware[i]);
    const auto device = std::ranges::find_if(
        found->devices, [&](const Device& one) { return one.kind == kind && one.backend != "onnxruntime"; });
    if (device == found->devices.end()) continue;
    Pairs metadata(host_);
    metadata.add("latebind.device", device->id);
    metadata.add("latebind.full_name", device->full_name);
    metadata.add("latebind.runtime_version", device->runtime_version);
    host_.check(host_->CreateEpDevice(this, hardware[i], metadata.get(), nullptr, &devices[*made]));
    ++*made;
  }
  if (*made == 0) host_.log(abi::kWarning, "Latebind offers no device here: " + reasons(*found));
  if (wanted != Virtual::kNone) list_virtual(wanted == Virtual::kAll, devices, most, made);
}

void Factory::list_virtual(bool all, abi::EpDevice** devices, std::size_t most, std::size_t* made) {
  // Includes the compilers of ONNX Runtime's plugins, which run in separate processes.
  const Runtime runtime = make_runtime(host_, {}, NestedLibrary::kSearched);
  const auto found = devices_of(runtime, true);
  if (!found.ok()) throw failure_of("Latebind: virtual devices", found.status());
  for (const Device& device : found->devices) {
    const bool is_compiled = at(device.metadata, "CompilerInstalled") == "1";
    if (!device.is_virtual || (!is_compiled && !all)) continue;
    if (*made >= most) {
      host_.log(abi::kWarning, "Latebind: the host does not take more devices than " + std::to_string(most) +
                                   ", without " + device.id);
      continue;
    }
    Pairs described(host_);
    described.add("is_virtual", "1");
    described.add("DiscoveredBy", "latebind");
    described.add("Architecture", at(device.metadata, "Architecture"));
    described.add("Description", device.full_name);
    const std::string missing = is_compiled ? "" : at(device.metadata, "Missing");
    abi::HardwareDevice* hardware = nullptr;
    {
      const core::MutexLock lock(mutex_);
      VirtualDevice& kept = virtual_.emplace_back(VirtualDevice{nullptr, device, missing});
      host_.check(host_->CreateHardwareDevice(hardware_type(device.kind), 0,
                                              static_cast<std::uint32_t>(virtual_.size() - 1), "Latebind",
                                              described.get(), &kept.hardware));
      hardware = Host::need(kept.hardware, "virtual hardware");
    }
    Pairs metadata(host_);
    metadata.add(kVirtualId, device.id);
    metadata.add("latebind.device", device.id);
    metadata.add("latebind.compiler_installed", is_compiled ? "1" : "0");
    if (!is_compiled) metadata.add("latebind.missing", missing);
    metadata.add("latebind.emulated", at(device.metadata, "Emulated"));
    host_.check(host_->CreateEpDevice(this, hardware, metadata.get(), nullptr, &devices[*made]));
    ++*made;
  }
}

abi::Ep* Factory::create(const abi::KeyValuePairs* const* metadata, const abi::HardwareDevice* const* hardware,
                         std::size_t count, const abi::SessionOptions* options, const abi::Logger* logger) const {
  SessionDevice device;
  for (std::size_t i = 0; i < count; ++i) {
    if (std::string id = metadata != nullptr ? value_of(host_, metadata[i], kVirtualId) : ""; !id.empty()) {
      device.virtual_ids.push_back(std::move(id));
      continue;
    }
    // Among several devices, the best one is meant; placement continues with the others.
    if (!device.is_here || kind_of(host_, hardware[i]) == LB_DEVICE_NPU) device.kind = kind_of(host_, hardware[i]);
    device.is_here = true;
  }
  return new Provider(host_, logger, options, std::move(device), runtime());
}

abi::Compatibility Factory::compatibility(const abi::HardwareDevice* const* hardware, std::size_t count,
                                          const char* text) const {
  std::vector<std::int32_t> kinds;
  std::vector<Device> virtual_devices;
  for (std::size_t i = 0; i < count; ++i) {
    if (const VirtualDevice* found = find_virtual(hardware[i])) {
      virtual_devices.push_back(found->device);
    } else {
      kinds.push_back(kind_of(host_, hardware[i]));
    }
  }
  return compatibility_of(*runtime(), text, kinds, virtual_devices);
}

void Factory::explain(const abi::HardwareDevice* hardware, abi::IncompatibilityDetails* details) const {
  if (const VirtualDevice* known = find_virtual(hardware)) {
    if (known->missing.empty()) return;
    const std::string text = "Latebind: to compile for it, install " + known->missing;
    host_.check(host_->DeviceEpIncompatibilityDetails_SetDetails(details, abi::kMissingDependency, 0, text.c_str()));
    return;
  }
  const auto found = devices_of(*runtime());
  if (!found.ok()) throw failure_of("Latebind: devices", found.status());
  const std::int32_t kind = kind_of(host_, hardware);
  if (std::ranges::any_of(found->devices, [&](const Device& device) { return device.kind == kind; })) return;
  const std::string missing = reasons(*found);
  const std::string text = missing.empty() ? "Latebind: no backend supports this device; use the CPU" : missing;
  host_.check(host_->DeviceEpIncompatibilityDetails_SetDetails(
      details, missing.empty() ? abi::kDeviceIncompatible : abi::kMissingDependency, 0, text.c_str()));
}

}  // namespace latebind::provider
