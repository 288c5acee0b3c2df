#include "app/runtime.h"

#include <utility>

#include "app/backends.h"

namespace latebind::app {

core::Result<Runtime> Runtime::make(const EffectiveSettings& settings, core::PerformanceHint hint,
                                    const std::map<std::string, std::string>& properties) {
  Runtime runtime;
  runtime.settings = settings.values();
  runtime.registry = make_registry(backend_paths(settings));
  auto placement = core::Placement::parse(runtime.settings.device, runtime.registry);
  if (!placement.ok()) return placement.status().with_context(settings.origin_of("device"));
  runtime.placement = *std::move(placement);
  runtime.load = load_options(runtime.settings);
  runtime.load.compile.hint = hint;
  for (const auto& [key, value] : properties)
    runtime.load.compile.properties[key] = value;
  runtime.precision_given = settings.origin_of("precision") != "default";
  return runtime;
}

}  // namespace latebind::app
