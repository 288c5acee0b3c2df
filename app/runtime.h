// What settings make: backends, where to place a model and how to load it.
#pragma once

#include <map>
#include <string>

#include "app/settings.h"
#include "core/engine.h"
#include "core/placement.h"
#include "core/registry.h"
#include "core/result.h"

namespace latebind::app {

// Keep it longer than what it loads.
struct Runtime {
  Settings settings;
  core::Registry registry;
  core::Placement placement;
  core::LoadOptions load;
  // Nobody else has set the precision when false: then what suits the device may be chosen.
  bool precision_given = false;

  [[nodiscard]] core::Engine engine() const { return core::Engine(registry); }

  // Loads nothing. `properties` go to the vendor as they are, after all others. kInvalidArgument for a placement that
  // names nothing, with where it came from.
  static core::Result<Runtime> make(const EffectiveSettings& settings, core::PerformanceHint hint,
                                    const std::map<std::string, std::string>& properties = {});
};

}  // namespace latebind::app
