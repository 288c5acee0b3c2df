// Plugins: the PJRT plug-ins that the setting names, opened when they are first needed, and their devices by name.
//
// One that cannot be opened is tried again at the next call: what was missing may be there by then. May be used from
// any thread.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "backends/pjrt/client.h"
#include "backends/pjrt/constants.h"
#include "core/backend/diagnosis.h"
#include "core/result.h"
#include "core/threads/mutex.h"

namespace latebind::pjrt {

// An opened plug-in with its weights.
struct OpenedPlugin {
  std::shared_ptr<const Client> client;
  std::shared_ptr<Constants> constants;
};

struct PluginDevice {
  std::string name;  // "CUDA.1"
  OpenedPlugin plugin;
  std::size_t number = 0;  // of the client's devices
};

// Returns the version of the plug-in for people and caches: that of its interface and the start of its digest.
[[nodiscard]] std::string version_of(const Client& client);
// Returns the kind of device, and its name for people.
[[nodiscard]] core::DeviceKind kind_of(const Client& client);
[[nodiscard]] std::string full_name_of(const PluginDevice& device);

class Plugins {
 public:
  explicit Plugins(std::string_view paths);

  // Returns the devices of all plug-ins that can be used. An error if none can: kLibraryNotFound without a path in the
  // setting, otherwise that of the first one.
  [[nodiscard]] core::Result<std::vector<PluginDevice>> devices();
  // kDeviceNotFound names the devices that there are.
  [[nodiscard]] core::Result<PluginDevice> device(std::string_view name);
  // Each plug-in that cannot be used, and why.
  [[nodiscard]] std::vector<core::UnavailablePart> unavailable();
  [[nodiscard]] std::vector<core::SearchStep> search();

 private:
  struct Place {
    std::string path;
    OpenedPlugin opened;
    core::Status status;
  };

  // Opens what is not open.
  void open() LB_REQUIRES(mutex_);

  core::Mutex mutex_;
  std::vector<Place> places_ LB_GUARDED_BY(mutex_);
};

}  // namespace latebind::pjrt
