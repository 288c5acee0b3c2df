// Builds the runtime from settings: the backends, the placement and the load options.
#pragma once

#include <string>
#include <vector>

#include "app/settings.h"
#include "core/backend/registry.h"
#include "core/engine/engine.h"
#include "core/placement/placement.h"
#include "core/result.h"

namespace latebind::app {

// A job's defaults for settings that are not set.
struct JobDefaults {
  core::PerformanceHint hint = core::PerformanceHint::kLatency;
  bool cache = true;
};

// How and where a model is loaded.
struct LoadRequest {
  core::Placement placement;
  core::LoadOptions load;
  // False if the precision is not set, so that one that suits the device or the model may be chosen.
  bool precision_given = false;
  // For embedding models. 0 tokens per text means the model's limit.
  std::size_t batch_tokens = 0;
  std::size_t max_tokens = 0;
  // For model folders: that of embedding::FolderOptions.
  std::string onnx_file{};

  // `precisions` has at least one element, in the order in which they are tried on a device.
  void set_precisions(const std::vector<core::Precision>& precisions);
};

// Returns kInvalidArgument, naming the origin of the setting, for an unknown device.
[[nodiscard]] core::Result<core::Placement> placement_of(const EffectiveSettings& settings,
                                                         const core::Registry& registry);

// Opens the compile cache, or goes without one if there is no folder for it. Returns the errors of placement_of().
[[nodiscard]] core::Result<LoadRequest> load_request(const EffectiveSettings& settings, const core::Registry& registry,
                                                     const JobDefaults& defaults);

// The backends and the load options that jobs use by default. Must outlive everything that it loads.
struct Runtime : LoadRequest {
  Settings settings;
  EffectiveSettings effective;  // what `settings` was made from
  core::Registry registry;

  [[nodiscard]] core::Engine engine() const { return core::Engine(registry); }

  // Loads nothing. Returns the errors of load_request().
  static core::Result<Runtime> make(const EffectiveSettings& settings, const JobDefaults& defaults);
  // Uses existing backends.
  static core::Result<Runtime> make(const EffectiveSettings& settings, core::Registry registry,
                                    const JobDefaults& defaults);
};

}  // namespace latebind::app
