#include "backends/onnxruntime/register_provider.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <string_view>

#include "backends/onnxruntime/needed_libraries.h"
#include "backends/onnxruntime/targets.h"
#include "core/log.h"
#include "core/platform/dynamic_library.h"
#include "core/platform/files/folders.h"
#include "core/platform/process_generation.h"
#include "core/threads/mutex.h"
#include "core/vendor/vendor_search.h"

namespace latebind::onnxruntime {

using core::Result;
using core::Status;
using core::StatusCode;

namespace {

constexpr std::size_t kDevicesMax = 64;

core::Mutex& registration_mutex() {
  static platform::PerProcess<core::Mutex> mutex;
  return mutex.get();
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
      if (std::ranges::find(before, handle) == before.end())
        devices.push_back(describe_device(environment, handle, file));
      continue;
    }
    if (is_of_file(handle)) devices.push_back(describe_device(environment, handle, file));
  }
  return devices;
}

}  // namespace latebind::onnxruntime
