#include "core/engine.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "core/log.h"

namespace latebind::core {
namespace {

// "a: why; b: why"
std::string listed(const std::vector<PlacementStep>& steps) {
  std::string text;
  for (const PlacementStep& step : steps) {
    if (!text.empty()) text += "; ";
    text += fmt::format("{}: {}", step.device, step.reason);
  }
  return text;
}

// Nothing could take the model. When every device that tried it says the same about the caller's
// model or options, that is the answer; else the machine is at fault.
Status nothing_worked(const Model& model, const Placement& placement, const std::vector<PlacementStep>& steps,
                      const std::vector<StatusCode>& load_codes) {
  StatusCode code = StatusCode::kNoDevice;
  if (!load_codes.empty() && band_of(load_codes.front()) == StatusBand::kCaller &&
      std::ranges::all_of(load_codes, [&](StatusCode c) { return c == load_codes.front(); })) {
    code = load_codes.front();
  }
  return Status(code, fmt::format("no device of '{}' can run {}: {}", placement.text(), model.name(),
                                  steps.empty() ? "there is none here" : listed(steps)));
}

Status strict_refusal(const Placement& placement, const std::vector<PlacementStep>& steps) {
  return Status(StatusCode::kStrictFallback,
                fmt::format("strict: '{}' could only be served by a fallback: {}", placement.text(), listed(steps)));
}

}  // namespace

PlacedModel::PlacedModel(std::unique_ptr<Executable> executable, std::shared_ptr<const Attestation> attestation)
    : executable_(std::move(executable)), attestation_(std::move(attestation)) {}

Status PlacedModel::execute(std::span<const TensorView> inputs, std::span<OutputTensor> outputs,
                            const RunOptions& options) {
  return executable_->execute(inputs, outputs, options);
}

Result<std::shared_ptr<PlacedModel>> Engine::load(const Model& model, const Placement& placement,
                                                  const LoadOptions& options) const {
  std::vector<PlacementStep> steps;
  std::vector<StatusCode> load_codes;
  for (auto& candidate : placement.resolve(registry_)) {
    if (options.strict && !steps.empty()) return strict_refusal(placement, steps);
    if (!candidate.device) {
      steps.push_back(std::move(candidate.refusal));
      continue;
    }
    const Device& device = *candidate.device;
    const auto backend = registry_.find(device.backend);
    auto executable = backend->load(model, device.name, options.compile);
    if (!executable.ok()) {
      log(LogLevel::kDebug,
          fmt::format("{} refused {}: {}", device.id(), model.name(), executable.status().to_string()));
      load_codes.push_back(executable.status().code());
      steps.push_back({device.id(), false, executable.status().to_string()});
      continue;
    }

    auto attestation = std::make_shared<Attestation>();
    attestation->active = (*executable)->active();
    attestation->fallback = !steps.empty();
    if (attestation->fallback) {
      attestation->reason = fmt::format("using {}, because {}", device.id(), listed(steps));
    }
    attestation->steps = std::move(steps);
    attestation->steps.push_back({device.id(), true, {}});
    return std::make_shared<PlacedModel>(*std::move(executable), std::move(attestation));
  }
  return nothing_worked(model, placement, steps, load_codes);
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
