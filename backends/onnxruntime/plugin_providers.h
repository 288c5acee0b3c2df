// Plugin execution providers: libraries of other vendors that ONNX Runtime opens, and the devices that they offer.
//
// A provider is registered once per environment, and only after a child process has registered it and queried its
// devices (provider_trial.h), so that a provider that crashes or hangs is reported and does no harm. This code is not
// specific to a vendor: a device gets the metadata that its provider reports.
//
// Thread-safe. Registered libraries stay until the process ends (docs/decisions/0006).
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "backends/onnxruntime/environment.h"
#include "backends/onnxruntime/plugin_find.h"
#include "backends/onnxruntime/provider_trial.h"
#include "core/backend/backend.h"
#include "core/backend/device.h"
#include "core/result.h"
#include "core/threads/mutex.h"

namespace latebind::onnxruntime {

// A provider on one piece of hardware.
struct PluginDevice {
  core::Device device;
  const abi::EpDevice* handle = nullptr;  // owned by the environment
  std::string provider;                   // "QNNExecutionProvider"
  std::string library;                    // the provider's file
};

// Registers one library under its name unless it is registered, and returns its devices. Runs in this process: either
// in the child process of a trial, or after the provider has passed its trial.
[[nodiscard]] core::Result<std::vector<PluginDevice>> register_provider(const Environment& environment,
                                                                        const std::string& file);

// The name under which a library is registered: for known providers their own name, since some of them take the
// registered name as theirs; otherwise a name derived from the file.
[[nodiscard]] std::string registration_name(const std::string& file);

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

  // All devices, real and virtual, of all providers, except those that only compile (targets.h). Each call searches for
  // providers. A rejected provider is tried again after a while, since the cause may be gone.
  [[nodiscard]] std::vector<PluginDevice> devices();
  // The device of this name. Returns kDeviceNotFound, or kUnsupported for a device that only compiles.
  [[nodiscard]] core::Result<PluginDevice> find(std::string_view name);
  // A device on which this provider compiles. Returns kNotFound with what to install, or the reason why the provider
  // cannot be used.
  [[nodiscard]] core::Result<PluginDevice> any_of(std::string_view provider);

  // Why the known provider to which a device of this name would belong offers no device. Empty if it offers one, or if
  // the name belongs to no known provider.
  [[nodiscard]] std::string why_not(std::string_view device);

  // The providers that the last search found unusable, with reasons, including those that only compile here; each under
  // the name that its device would have.
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
  void look() LB_REQUIRES(mutex_);
  void ask(Known& known) LB_REQUIRES(mutex_);
  [[nodiscard]] OfferedDevices offered() const LB_REQUIRES(mutex_);

  const std::shared_ptr<const Environment> environment_;
  const PluginOptions options_;
  core::Mutex mutex_;
  std::vector<Known> known_ LB_GUARDED_BY(mutex_);
  std::vector<core::SearchStep> trace_ LB_GUARDED_BY(mutex_);
};

}  // namespace latebind::onnxruntime
