#include "app/jobs/devices.h"

#include <utility>

#include "core/backend/questions.h"
namespace latebind::app {

DeviceListing list_devices(const core::Registry& registry, bool virtual_too) {
  DeviceListing listing;
  listing.backends = core::Engine(registry).report();
  for (core::BackendReport& report : listing.backends) {
    const auto backend = registry.find(report.name);
    if (!virtual_too) continue;
    const auto devices = core::virtual_devices_of(*backend);
    if (devices.ok()) {
      report.devices.insert(report.devices.end(), devices->begin(), devices->end());
    } else {
      report.diagnosis.unavailable.push_back({"virtual devices", devices.status().to_string()});
    }
  }
  return listing;
}

PlacementListing list_placement(const core::Placement& placement, const core::Registry& registry, bool emulate,
                                core::Precision precision) {
  return {std::string(placement.text()), precision,
          placement.resolve(registry, emulate, core::Placement::in(precision))};
}

Json to_json(const DeviceListing& listing) {
  Json json;
  json["version"] = LATEBIND_VERSION;
  json["devices"] = Json::array();
  json["backends"] = Json::array();
  for (const auto& report : listing.backends) {
    for (const core::Device& device : report.devices) {
      Json one;
      one["id"] = device.id();
      one["backend"] = device.backend;
      one["name"] = device.name;
      one["kind"] = core::word_of(device.kind);
      one["full_name"] = device.full_name;
      one["runtime_version"] = device.runtime_version;
      one["virtual"] = device.is_virtual();
      one["metadata"] = device.facts();
      json["devices"].push_back(std::move(one));
    }
    Json backend;
    backend["name"] = report.name;
    backend["available"] = report.status.ok();
    backend["runtime_version"] = report.runtime_version;
    backend["code"] = core::name_of(report.status.code());
    backend["reason"] = reason_of(report.status);
    backend["install"] = report.diagnosis.install_hint;
    backend["unavailable"] = Json::array();
    for (const core::UnavailablePart& part : report.diagnosis.unavailable) {
      backend["unavailable"].push_back({{"name", part.name}, {"reason", part.reason}});
    }
    json["backends"].push_back(std::move(backend));
  }
  return json;
}

Json to_json(const PlacementListing& listing) {
  Json json;
  json["text"] = listing.text;
  json["precision"] = core::word_of(listing.precision);
  json["devices"] = Json::array();
  json["refused"] = Json::array();
  for (const auto& candidate : listing.candidates) {
    if (candidate.device) {
      json["devices"].push_back(candidate.device->id());
    } else {
      json["refused"].push_back({{"device", candidate.refusal.device}, {"reason", candidate.refusal.reason}});
    }
  }
  return json;
}

}  // namespace latebind::app
