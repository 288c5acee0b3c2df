// What was searched for, what was found, what works, and what to type to fix the rest.
#pragma once

#include <string>
#include <vector>

#include "app/client.h"
#include "app/json_text.h"
#include "app/settings.h"
#include "core/backend.h"
#include "core/engine.h"
#include "core/registry.h"
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
    std::vector<OfDevice> devices;  // that are in this machine
  };

  std::string version;
  std::string platform;
  std::string cpu;
  unsigned processors = 0;  // usable ones
  std::vector<std::string> cpu_features;
  // What products were measured with, and how fast they were; empty where no backend has kernels of its own.
  std::string instruction_set;
  std::vector<core::PrecisionSpeed> speeds;
  // Each is a folder, or why there is none.
  std::string cache_folder;
  std::string config_folder;
  std::string system_config_folder;
  std::vector<OfBackend> backends;
  bool works = false;  // some device can run a model
};

// Opens every backend's library, runs a tiny model on each device and measures the processor for 100 ms. Its only error
// is kCancelled. The folder of the cache is the one that the settings name.
[[nodiscard]] core::Result<Diagnosis> examine(const core::Registry& registry, const Settings& settings,
                                              const Client& client);

// {version, platform, works, cpu, folders, backends}, as `latebind doctor --help` says.
[[nodiscard]] Json to_json(const Diagnosis& diagnosis);

}  // namespace latebind::app
