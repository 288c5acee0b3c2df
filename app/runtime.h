// What is built from settings: backends, where to place a model and how to load it.
#pragma once

#include <string>
#include <vector>

#include "app/settings.h"
#include "core/engine.h"
#include "core/placement.h"
#include "core/registry.h"
#include "core/result.h"

namespace latebind::app {

// A job's defaults for what is not set.
struct JobDefaults {
  core::PerformanceHint hint = core::PerformanceHint::kLatency;
  bool cache = true;
};

// How a model is loaded, and where.
struct LoadRequest {
  core::Placement placement;
  core::LoadOptions load;
  // When false, the precision is not set: then what suits the device or the model may be chosen.
  bool precision_given = false;
  // For models that embed text; 0 tokens per text: the model's limit.
  std::size_t batch_tokens = 0;
  std::size_t max_tokens = 0;
  // Of folders of models: embedding::FolderOptions.
  std::string onnx_file{};

  // `precisions`: at least one, in the order in which a device is asked.
  void set_precisions(const std::vector<core::Precision>& precisions);
};

// kInvalidArgument for an unknown device, with where it was set.
[[nodiscard]] core::Result<core::Placement> placement_of(const EffectiveSettings& settings,
                                                         const core::Registry& registry);

// The compile cache is opened; without a folder for it there is none. The errors of placement_of().
[[nodiscard]] core::Result<LoadRequest> load_request(const EffectiveSettings& settings, const core::Registry& registry,
                                                     const JobDefaults& defaults);

// Backends, and how models are loaded unless a job says otherwise. Must outlive what it loads.
struct Runtime : LoadRequest {
  Settings settings;
  EffectiveSettings effective;  // what they come from
  core::Registry registry;

  [[nodiscard]] core::Engine engine() const { return core::Engine(registry); }

  // Loads nothing. The errors of load_request().
  static core::Result<Runtime> make(const EffectiveSettings& settings, const JobDefaults& defaults);
  // With existing backends.
  static core::Result<Runtime> make(const EffectiveSettings& settings, core::Registry registry,
                                    const JobDefaults& defaults);
};

}  // namespace latebind::app
