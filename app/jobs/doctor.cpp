#include "app/jobs/doctor.h"

#include <chrono>
#include <filesystem>
#include <utility>

#include "app/plugins.h"
#include "core/backend/device_check.h"
#include "core/platform/files/folders.h"
#include "core/platform/system_info.h"
#include "core/vendor/hardware_note.h"

namespace latebind::app {
namespace {

constexpr std::chrono::milliseconds kProbeTime{100};

std::string folder_text(const core::Result<std::filesystem::path>& folder) {
  return folder.ok() ? platform::path_to_utf8(*folder) : folder.status().to_string();
}

}  // namespace

core::Result<Diagnosis> examine(const core::Registry& registry, const EffectiveSettings& effective,
                                const Client& client) {
  const Settings& settings = effective.values();
  Diagnosis diagnosis;
  diagnosis.version = LATEBIND_VERSION;
  diagnosis.platform = platform::platform_name();
  diagnosis.cpu = platform::cpu_name();
  diagnosis.processors = platform::usable_processors();
  for (const auto& feature : platform::cpu_features())
    diagnosis.cpu_features.emplace_back(feature);
  diagnosis.cache_folder =
      folder_text(settings.cache_folder.empty() ? platform::cache_folder() : compile_cache_folder(settings));
  diagnosis.config_folder = folder_text(platform::config_folder());
  diagnosis.system_config_folder = platform::path_to_utf8(platform::system_config_folder());
  for (auto& report : core::Engine(registry).report()) {
    const auto backend = registry.find(report.name);
    Diagnosis::OfBackend finding;
    for (const core::Device& device : report.devices) {
      if (device.is_virtual()) continue;
      LB_RETURN_IF_ERROR(client.check_cancelled());
      client.advance("trying " + device.id(), 0, 0);
      const auto start = std::chrono::steady_clock::now();
      auto status = core::check_device(*backend, device).status;
      const std::chrono::duration<double, std::milli> time = std::chrono::steady_clock::now() - start;
      diagnosis.works = diagnosis.works || status.ok();
      if (status.ok()) core::note_that_it_works(report.diagnosis.hardware, device);
      finding.devices.push_back({device, std::move(status), time.count()});
    }
    if (diagnosis.speeds.empty()) {
      if (auto* const probe = backend->capabilities().precision_probe; probe != nullptr) {
        auto measured = probe->measure_precisions(kProbeTime);
        diagnosis.speeds = std::move(measured.speeds);
        diagnosis.instruction_set = std::move(measured.instruction_set);
      }
    }
    finding.report = std::move(report);
    diagnosis.backends.push_back(std::move(finding));
  }
  diagnosis.plugin_search = find_plugins(effective.of_backends()).trace;
  return diagnosis;
}

Json to_json(const Diagnosis& diagnosis) {
  Json json;
  json["version"] = diagnosis.version;
  json["platform"] = diagnosis.platform;
  json["works"] = diagnosis.works;
  json["cpu"]["name"] = diagnosis.cpu;
  json["cpu"]["usable_processors"] = diagnosis.processors;
  json["cpu"]["features"] = diagnosis.cpu_features;
  json["cpu"]["instruction_set"] = diagnosis.instruction_set;
  json["cpu"]["precisions"] = Json::array();
  for (const core::PrecisionSpeed& speed : diagnosis.speeds) {
    json["cpu"]["precisions"].push_back(Json{{"precision", core::word_of(speed.precision)},
                                             {"gops", rounded(speed.gops, 1)},
                                             {"times_f32", rounded(speed.gops / diagnosis.speeds.front().gops, 2)}});
  }
  json["folders"]["cache"] = diagnosis.cache_folder;
  json["folders"]["config"] = diagnosis.config_folder;
  json["folders"]["system_config"] = diagnosis.system_config_folder;
  json["backends"] = Json::array();
  for (const Diagnosis::OfBackend& finding : diagnosis.backends) {
    Json backend;
    backend["name"] = finding.report.name;
    backend["available"] = finding.report.status.ok();
    backend["runtime_version"] = finding.report.runtime_version;
    backend["code"] = core::name_of(finding.report.status.code());
    backend["reason"] = reason_of(finding.report.status);
    backend["install"] = finding.report.diagnosis.install_hint;
    backend["unavailable"] = Json::array();
    for (const core::UnavailablePart& part : finding.report.diagnosis.unavailable) {
      backend["unavailable"].push_back(Json{{"name", part.name}, {"reason", part.reason}});
    }
    backend["hardware"] = Json::array();
    for (const core::HardwareNote& note : finding.report.diagnosis.hardware) {
      backend["hardware"].push_back(Json{{"name", note.name},
                                         {"kind", core::word_of(note.kind)},
                                         {"node", note.node},
                                         {"ready", note.ready},
                                         {"status", note.status},
                                         {"remedy", note.remedy},
                                         {"metadata", note.metadata}});
    }
    backend["search"] = Json::array();
    for (const core::SearchStep& step : finding.report.diagnosis.search) {
      backend["search"].push_back(
          Json{{"place", step.place}, {"source", step.source}, {"outcome", step.outcome}, {"opened", step.opened}});
    }
    backend["devices"] = Json::array();
    for (const Diagnosis::OfDevice& device : finding.devices) {
      backend["devices"].push_back(Json{{"id", device.device.id()},
                                        {"full_name", device.device.full_name},
                                        {"works", device.status.ok()},
                                        {"reason", reason_of(device.status)},
                                        {"ms", rounded(device.ms, 1)}});
    }
    json["backends"].push_back(std::move(backend));
  }
  json["plugin_search"] = Json::array();
  for (const core::SearchStep& step : diagnosis.plugin_search)
    json["plugin_search"].push_back(Json{{"place", step.place}, {"source", step.source}, {"outcome", step.outcome}});
  return json;
}

}  // namespace latebind::app
