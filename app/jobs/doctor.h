// Diagnoses the installation: what was searched for, what was found, what works, and how to fix the rest.
#pragma once

#include <string>
#include <vector>

#include "app/client.h"
#include "app/json_text.h"
#include "app/settings.h"
#include "core/backend/backend.h"
#include "core/backend/registry.h"
#include "core/engine/engine.h"
#include "core/result.h"

namespace latebind::app {

struct Diagnosis {
  struct OfDevice {
    core::Device device;
    core::Status status;
    double ms = 0;  // to load and run the tiny model
  };
  struct OfBackend {
    core::BackendReport report;
    std::vector<OfDevice> devices;  // devices in this machine
  };

  std::string version;
  std::string platform;
  std::string cpu;
  unsigned processors = 0;  // usable ones
  std::vector<std::string> cpu_features;
  // The instruction set that the speeds were measured with. Empty if no backend has its own kernels.
  std::string instruction_set;
  std::vector<core::PrecisionSpeed> speeds;
  // Each of these is a folder, or the reason why no folder is used.
  std::string cache_folder;
  std::string config_folder;
  std::string system_config_folder;
  std::vector<OfBackend> backends;
  std::vector<core::SearchStep> plugin_search;  // every place where manifests of plug-ins were looked for
  bool works = false;                           // at least one device can run a model
};

// Opens every backend's library, runs a tiny model on each device and measures the processor for 100 ms. `registry` was
// made from these settings, which also name the cache folder. The only error is kCancelled.
[[nodiscard]] core::Result<Diagnosis> examine(const core::Registry& registry, const EffectiveSettings& settings,
                                              const Client& client);

// {version, platform, works, cpu, folders, backends, plugin_search}, as `latebind doctor --help` says.
[[nodiscard]] Json to_json(const Diagnosis& diagnosis);

}  // namespace latebind::app
