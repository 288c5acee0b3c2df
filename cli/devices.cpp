// latebind devices: every device that is there, and why a backend has none.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <vector>

#include "cli/byte_sink.h"
#include "cli/json_text.h"
#include "cli/parser.h"
#include "cli/runtime_options.h"

namespace latebind::cli {
namespace {

struct DevicesArguments {
  SettingFlags flags{};
  bool json = false;
  bool explain = false;
  bool virtual_too = false;
};

// "1. openvino:CPU …": what a placement means here, in the order in which it is tried.
std::string explanation(const core::Placement& placement, const core::Registry& registry, bool strict, bool emulate) {
  std::string text = fmt::format("'{}' is tried in this order{}:\n", placement.text(),
                                 strict ? ", and strict takes the first or nothing" : "");
  std::size_t number = 0;
  std::string refused;
  for (const auto& candidate : placement.resolve(registry, emulate)) {
    if (candidate.device) {
      text += fmt::format("  {}. {} ({})\n", ++number, candidate.device->id(), core::word_of(candidate.device->kind));
    } else {
      refused += fmt::format("  {}: {}\n", candidate.refusal.device, one_line(candidate.refusal.brief));
    }
  }
  if (number == 0) text += "  nothing\n";
  if (!refused.empty()) text += fmt::format("not there:\n{}", refused);
  std::string backends;
  for (const auto& backend : registry.all())
    backends += fmt::format("{}{}", backends.empty() ? "" : ", ", backend->name());
  text += fmt::format(
      "The rules: words of the placement in their order; auto is npu, gpu, cpu; of one kind, the backends in the "
      "order\n"
      "{}, and a backend's devices as it lists them. Each device counts once. A virtual device runs nothing and "
      "is\n"
      "left out, unless it is named exactly and --emulate is given. The first one that can load the model answers; "
      "when it fails, the next one does, until it works again.\n",
      backends);
  return text;
}

Json placement_for_programs(const core::Placement& placement, const core::Registry& registry, bool emulate) {
  Json json;
  json["text"] = placement.text();
  json["devices"] = Json::array();
  json["refused"] = Json::array();
  for (const auto& candidate : placement.resolve(registry, emulate)) {
    if (candidate.device) {
      json["devices"].push_back(candidate.device->id());
    } else {
      json["refused"].push_back({{"device", candidate.refusal.device}, {"reason", candidate.refusal.reason}});
    }
  }
  return json;
}

std::string for_people(const core::Registry& registry, const std::vector<core::BackendReport>& reports) {
  std::string text;
  for (const auto& report : reports) {
    for (const core::Device& device : report.devices) {
      text += fmt::format("{:<18} {:<5} {}, runtime {}{}\n", device.id(), core::word_of(device.kind),
                          one_line(device.full_name), one_line(device.runtime_version),
                          device.is_virtual() ? ", virtual" : "");
      for (const auto& [key, value] : device.metadata) {
        text += fmt::format("    {} = {}\n", key, one_line(value));
      }
    }
    if (!report.status.ok()) {
      text += fmt::format("{:<18} not available: {}\n", report.name, one_line(report.status.to_string()));
      text += fmt::format("    to install: {}\n", registry.find(report.name)->install_hint());
    } else if (report.devices.empty()) {
      text += fmt::format("{:<18} available (runtime {}), but offers no device here\n", report.name,
                          one_line(report.runtime_version));
    }
    for (const core::UnavailablePart& part : report.unavailable) {
      text += fmt::format("{:<18} {} cannot be used: {}\n", report.name, one_line(part.name), one_line(part.reason));
    }
  }
  return text;
}

Json for_programs(const core::Registry& registry, const std::vector<core::BackendReport>& reports) {
  Json json;
  json["version"] = LATEBIND_VERSION;
  json["devices"] = Json::array();
  json["backends"] = Json::array();
  for (const auto& report : reports) {
    for (const core::Device& device : report.devices) {
      Json one;
      one["id"] = device.id();
      one["backend"] = device.backend;
      one["name"] = device.name;
      one["kind"] = core::word_of(device.kind);
      one["full_name"] = device.full_name;
      one["runtime_version"] = device.runtime_version;
      one["virtual"] = device.is_virtual();
      one["metadata"] = device.metadata;
      json["devices"].push_back(std::move(one));
    }
    Json backend;
    backend["name"] = report.name;
    backend["available"] = report.status.ok();
    backend["runtime_version"] = report.runtime_version;
    backend["code"] = core::name_of(report.status.code());
    backend["reason"] = reason_of(report.status);
    backend["install"] = registry.find(report.name)->install_hint();
    backend["unavailable"] = Json::array();
    for (const core::UnavailablePart& part : report.unavailable) {
      backend["unavailable"].push_back({{"name", part.name}, {"reason", part.reason}});
    }
    json["backends"].push_back(std::move(backend));
  }
  return json;
}

// What can be compiled for, though it is not here.
void add_virtual(const core::Registry& registry, std::vector<core::BackendReport>& reports) {
  for (core::BackendReport& report : reports) {
    const auto devices = registry.find(report.name)->virtual_devices();
    if (devices.ok()) {
      report.devices.insert(report.devices.end(), devices->begin(), devices->end());
    } else {
      report.unavailable.push_back({"virtual devices", devices.status().to_string()});
    }
  }
}

Exit devices(const DevicesArguments& options) {
  const auto settings = options.flags.effective();
  if (!settings.ok()) return misuse("devices", settings.status().message());
  const core::Registry registry = app::make_registry(app::backend_paths(*settings));
  auto placement = core::Placement::parse(settings->values().device, registry);
  if (!placement.ok()) {
    return misuse("devices", placement.status().with_context(settings->origin_of("device")).message());
  }
  auto reports = core::Engine(registry).report();
  if (options.virtual_too) add_virtual(registry, reports);
  std::string text;
  if (options.json) {
    Json json = for_programs(registry, reports);
    if (options.explain) json["placement"] = placement_for_programs(*placement, registry, settings->values().emulate);
    text = to_text(json);
  } else {
    text = for_people(registry, reports);
    if (options.explain)
      text += "\n" + explanation(*placement, registry, settings->values().strict, settings->values().emulate);
  }
  const auto printed = print(text);
  return printed.ok() ? Exit::kGood : fail(printed);
}

}  // namespace

void add_devices(CLI::App& program, Action& chosen) {
  auto options = std::make_shared<DevicesArguments>();
  CLI::App& app = *program.add_subcommand("devices", "Lists the devices that are there.");
  app.add_flag("--json", options->json,
               "Prints {version, devices: [{id, backend, name, kind, full_name, runtime_version, "
               "virtual, metadata}], backends: [{name, available, runtime_version, code, reason, "
               "install, unavailable: [{name, reason}]}]}; with --explain also placement: {text, devices, refused: "
               "[{device, reason}]}.");
  app.add_flag("--explain", options->explain,
               "Says in which order the devices of --device are tried, and by which rules.");
  app.add_flag("--virtual", options->virtual_too,
               "Lists also what is not in this machine but can be compiled for; metadata says whether the compiler is "
               "installed and whether its vendor emulates the device here.");
  static constexpr SettingGroup kGroups[] = {SettingGroup::kPlacement, SettingGroup::kLibraries};
  options->flags.add_to(app, kGroups);
  app.footer(
      "Every device with its backend, kind, full name and metadata; for a backend that is not\n"
      "available, why, and what to type. The exit status is 0 even when there is no device: see\n"
      "`latebind doctor` for a verdict.");
  app.callback([options, &chosen] { chosen = [options] { return devices(*options); }; });
}

}  // namespace latebind::cli
