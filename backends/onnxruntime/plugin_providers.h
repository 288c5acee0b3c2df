// Plugin execution providers: libraries of other vendors that ONNX Runtime opens, and the devices that they offer.
//
// A provider is registered once per environment, and only after a child process has registered it and queried its
// devices (provider_trial.h): one that crashes or hangs is reported and does no harm. Nothing here is specific to a
// vendor: what a provider offers becomes a device with the metadata that the provider gives.
//
// Thread-safe. Registered libraries stay until the process ends (docs/decisions/0006).
#pragma once

#include <chrono>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "backends/onnxruntime/environment.h"
#include "backends/onnxruntime/plugin_find.h"
#include "backends/onnxruntime/provider_trial.h"
#include "core/backend.h"
#include "core/device.h"
#include "core/result.h"

namespace latebind::onnxruntime {

// What a provider offers: itself on one piece of hardware.
struct PluginDevice {
  core::Device device;
  const abi::EpDevice* handle = nullptr;  // the environment's
  std::string provider;                   // "QNNExecutionProvider"
  std::string library;                    // its file
};

// Registers one library under its name, unless it is registered, and returns what it offers. In this process: for a
// provider that has passed its trial, and for the child process of the trial.
[[nodiscard]] core::Result<std::vector<PluginDevice>> register_provider(const Environment& environment,
                                                                        const std::string& file);

// The name under which a library is registered: the provider's own, where it is known, because some providers take the
// registered name as theirs; else after the file.
[[nodiscard]] std::string registration_name(const std::string& file);

// Gives every device its name: "QNN" of QNNExecutionProvider; where a provider offers several, followed by their kinds
// and numbers. Names are unique, and none is "CPU".
void name_devices(std::vector<PluginDevice>& devices);

// What providers offer, named: devices, and, for providers whose hardware is absent, the CPUs that only_compiles()
// excludes.
struct OfferedDevices {
  std::vector<PluginDevice> to_run;
  std::vector<PluginDevice> to_compile;
};
[[nodiscard]] OfferedDevices sort_devices(std::vector<PluginDevice> devices);

struct PluginOptions {
  // See ProviderFacts::paths.
  std::vector<std::string> paths{};
  TrialOptions trial{};
  // How long a refusal holds before the provider is tried again.
  std::chrono::milliseconds refusal_time{30'000};
};

class PluginProviders {
 public:
  PluginProviders(std::shared_ptr<const Environment> environment, PluginOptions options);

  // Every device of every provider present, real and virtual, except those that only compile (targets.h). Searches for
  // providers at each call; one that was rejected is tried again after a while: the cause may be gone.
  [[nodiscard]] std::vector<PluginDevice> devices();
  // The device of this name. kDeviceNotFound; kUnsupported for what only compiles.
  [[nodiscard]] core::Result<PluginDevice> find(std::string_view name);
  // What this provider compiles on. kNotFound with what to install, or why it cannot be used.
  [[nodiscard]] core::Result<PluginDevice> any_of(std::string_view provider);

  // Why the known provider that a device of this name would be of has none; empty where it has one, or none is known.
  [[nodiscard]] std::string why_not(std::string_view device);

  // From the last search: providers that cannot be used, and why, including those that only compile here, under the
  // name that their device would have.
  [[nodiscard]] std::vector<core::UnavailablePart> unavailable();
  [[nodiscard]] std::vector<core::SearchStep> trace();

 private:
  struct Known {
    std::string file;
    std::string source;
    std::vector<PluginDevice> devices;
    core::Status refusal{};
    bool registered = false;
    std::chrono::steady_clock::time_point asked{};
  };
  void look();
  void ask(Known& known);
  [[nodiscard]] OfferedDevices offered() const;

  const std::shared_ptr<const Environment> environment_;
  const PluginOptions options_;
  std::mutex mutex_;
  // Guarded by mutex_.
  std::vector<Known> known_;
  std::vector<core::SearchStep> trace_;
};

}  // namespace latebind::onnxruntime
