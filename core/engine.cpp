#include "core/engine.h"

#include <fmt/format.h>

#include <utility>

#include "core/cached_load.h"

namespace latebind::core {

std::string listed(const std::vector<PlacementStep>& steps) {
  std::string text;
  for (const PlacementStep& step : steps) {
    if (!text.empty()) text += "; ";
    text += fmt::format("{}: {}", step.device, step.reason);
  }
  return text;
}

Result<std::shared_ptr<PlacedModel>> Engine::load(const Model& model, const Placement& placement,
                                                  const LoadOptions& options) const {
  // The model and the backends are kept for candidates that are loaded later.
  auto load = [backends = registry_.all(), model, compile = options.compile,
               cache = options.cache](const Device& device) -> Result<std::unique_ptr<Executable>> {
    for (const auto& backend : backends) {
      if (backend->name() != device.backend) continue;
      return cache ? cached_load(*backend, model, device, compile, *cache) : backend->load(model, device.name, compile);
    }
    return Status(StatusCode::kDeviceNotFound, fmt::format("{}: there is no such backend", device.id()));
  };
  return PlacedModel::place(model.name(), placement, placement.resolve(registry_), std::move(load), options.strict,
                            options.failover);
}

std::vector<BackendReport> Engine::report() const {
  std::vector<BackendReport> reports;
  for (const auto& backend : registry_.all()) {
    BackendReport report;
    report.name = std::string(backend->name());
    report.status = backend->available();
    if (report.status.ok()) {
      auto version = backend->runtime_version();
      if (version.ok()) report.runtime_version = *std::move(version);
      auto devices = backend->devices();
      if (devices.ok()) {
        report.devices = *std::move(devices);
      } else {
        report.status = devices.status();
      }
    }
    reports.push_back(std::move(report));
  }
  return reports;
}

}  // namespace latebind::core
