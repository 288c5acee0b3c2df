// latebind doctor: what was looked for, what was found, what works, and what to type to mend the rest.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <chrono>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "cli/byte_sink.h"
#include "cli/device_check.h"
#include "cli/json_text.h"
#include "cli/parser.h"
#include "cli/runtime_options.h"
#include "core/platform/folders.h"
#include "core/platform/system_info.h"

namespace latebind::cli {
namespace {

struct DoctorArguments {
  SettingFlags flags{};
  bool json = false;
};

struct DeviceFinding {
  core::Device device;
  core::Status status;
  double ms = 0;  // to load and run the tiny model
};

struct BackendFinding {
  core::BackendReport report;
  std::vector<core::SearchStep> search;
  std::string install_hint;
  std::vector<DeviceFinding> devices;
  std::vector<core::HardwareNote> hardware;
};

struct Findings {
  std::vector<BackendFinding> backends;
  bool works = false;
};

Findings examine(const core::Registry& registry) {
  Findings findings;
  for (auto& report : core::Engine(registry).report()) {
    const auto backend = registry.find(report.name);
    BackendFinding finding;
    finding.search = backend->search_trace();
    finding.install_hint = backend->install_hint();
    finding.hardware = backend->hardware();
    for (const core::Device& device : report.devices) {
      if (device.is_virtual()) continue;
      const auto start = std::chrono::steady_clock::now();
      auto status = check_device(*backend, device.name);
      const std::chrono::duration<double, std::milli> time = std::chrono::steady_clock::now() - start;
      findings.works = findings.works || status.ok();
      finding.devices.push_back({device, std::move(status), time.count()});
    }
    finding.report = std::move(report);
    findings.backends.push_back(std::move(finding));
  }
  return findings;
}

std::string folder_text(const core::Result<std::filesystem::path>& folder) {
  return folder.ok() ? platform::path_to_utf8(*folder) : folder.status().to_string();
}

// "Intel NPU 4000 here (/dev/accel/accel0, driver intel_vpu): ready"
std::string hardware_for_people(const std::vector<core::HardwareNote>& hardware) {
  std::string text;
  for (const core::HardwareNote& note : hardware) {
    std::vector<std::string> known;
    if (!note.node.empty()) known.push_back(note.node);
    for (const auto& [key, word] : {std::pair{"Driver", "driver"}, std::pair{"DriverVersion", "version"},
                                    std::pair{"FirmwareVersion", "firmware"}}) {
      if (const auto found = note.metadata.find(key); found != note.metadata.end()) {
        known.push_back(fmt::format("{} {}", word, found->second));
      }
    }
    text +=
        fmt::format("  {} here{}: {}\n", one_line(note.name),
                    known.empty() ? "" : one_line(fmt::format(" ({})", fmt::join(known, ", "))), one_line(note.status));
    if (!note.remedy.empty()) text += fmt::format("    to mend it: {}\n", one_line(note.remedy));
  }
  return text;
}

std::string for_people(const Findings& findings) {
  std::string text = fmt::format("latebind {} on {}\n", LATEBIND_VERSION, platform::platform_name());
  text += fmt::format("processor      {}, {} usable\n", one_line(platform::cpu_name()), platform::usable_processors());
  text += fmt::format("features       {}\n", fmt::join(platform::cpu_features(), " "));
  text += fmt::format("cache folder   {}\n", folder_text(platform::cache_folder()));
  text += fmt::format("config folder  {}, then {}\n", folder_text(platform::config_folder()),
                      platform::path_to_utf8(platform::system_config_folder()));
  for (const BackendFinding& backend : findings.backends) {
    const core::BackendReport& report = backend.report;
    text += fmt::format("\n{}: {}\n", report.name,
                        report.status.ok() ? "available, runtime " + one_line(report.runtime_version)
                                           : "not available: " + one_line(report.status.to_string()));
    text += "  looked for its library in:\n";
    for (const core::SearchStep& step : backend.search) {
      text += fmt::format("    {} {}  ({}){}\n", step.opened ? "+" : "-", one_line(step.place), one_line(step.source),
                          step.opened ? "" : ": " + one_line(step.outcome));
    }
    if (backend.search.empty()) text += "    no place at all\n";
    for (const DeviceFinding& device : backend.devices) {
      text += fmt::format("  {}: {}  {}\n", device.device.id(),
                          device.status.ok() ? fmt::format("works ({:.0f} ms)", device.ms)
                                             : "does not work: " + one_line(device.status.to_string()),
                          one_line(device.device.full_name));
    }
    text += hardware_for_people(backend.hardware);
    for (const core::UnavailablePart& part : report.unavailable) {
      text += fmt::format("  {} cannot be used: {}\n", one_line(part.name), one_line(part.reason));
    }
    if (!report.status.ok()) text += fmt::format("  to install it: {}\n", backend.install_hint);
  }
  text += findings.works ? "\nReady: a model can run here.\n"
                         : "\nNot ready: no device can run a model. To mend it, install one of:\n";
  if (!findings.works) {
    for (const BackendFinding& backend : findings.backends) {
      text += fmt::format("  {:<12} {}\n", backend.report.name, backend.install_hint);
    }
  }
  return text;
}

std::string for_programs(const Findings& findings) {
  Json json;
  json["version"] = LATEBIND_VERSION;
  json["platform"] = platform::platform_name();
  json["works"] = findings.works;
  json["cpu"]["name"] = platform::cpu_name();
  json["cpu"]["usable_processors"] = platform::usable_processors();
  json["cpu"]["features"] = platform::cpu_features();
  json["folders"]["cache"] = folder_text(platform::cache_folder());
  json["folders"]["config"] = folder_text(platform::config_folder());
  json["folders"]["system_config"] = platform::path_to_utf8(platform::system_config_folder());
  json["backends"] = Json::array();
  for (const BackendFinding& finding : findings.backends) {
    Json backend;
    backend["name"] = finding.report.name;
    backend["available"] = finding.report.status.ok();
    backend["runtime_version"] = finding.report.runtime_version;
    backend["code"] = core::name_of(finding.report.status.code());
    backend["reason"] = reason_of(finding.report.status);
    backend["install"] = finding.install_hint;
    backend["unavailable"] = Json::array();
    for (const core::UnavailablePart& part : finding.report.unavailable) {
      backend["unavailable"].push_back(Json{{"name", part.name}, {"reason", part.reason}});
    }
    backend["hardware"] = Json::array();
    for (const core::HardwareNote& note : finding.hardware) {
      backend["hardware"].push_back(Json{{"name", note.name},
                                         {"kind", core::word_of(note.kind)},
                                         {"node", note.node},
                                         {"ready", note.ready},
                                         {"status", note.status},
                                         {"remedy", note.remedy},
                                         {"metadata", note.metadata}});
    }
    backend["search"] = Json::array();
    for (const core::SearchStep& step : finding.search) {
      backend["search"].push_back(
          Json{{"place", step.place}, {"source", step.source}, {"outcome", step.outcome}, {"opened", step.opened}});
    }
    backend["devices"] = Json::array();
    for (const DeviceFinding& device : finding.devices) {
      backend["devices"].push_back(Json{{"id", device.device.id()},
                                        {"full_name", device.device.full_name},
                                        {"works", device.status.ok()},
                                        {"reason", reason_of(device.status)},
                                        {"ms", rounded(device.ms, 1)}});
    }
    json["backends"].push_back(std::move(backend));
  }
  return to_text(json);
}

Exit doctor(const DoctorArguments& options) {
  const auto settings = options.flags.effective();
  if (!settings.ok()) return misuse("doctor", settings.status().message());
  const core::Registry registry = app::make_registry(app::backend_paths(*settings));
  const Findings findings = examine(registry);
  const auto printed = print(options.json ? for_programs(findings) : for_people(findings));
  if (!printed.ok()) return fail(printed);
  return findings.works ? Exit::kGood : Exit::kFailed;
}

}  // namespace

void add_doctor(CLI::App& program, Action& chosen) {
  auto options = std::make_shared<DoctorArguments>();
  CLI::App& app = *program.add_subcommand("doctor", "Says what works here, and what to type to mend the rest.");
  app.add_flag(
      "--json", options->json,
      "Prints {version, platform, works, cpu: {name, usable_processors, features}, "
      "folders: {cache, config, system_config}, backends: [{name, available, "
      "runtime_version, code, reason, install, unavailable: [{name, reason}], hardware: [{name, kind, node, ready, "
      "status, remedy, metadata}], search: [{place, source, outcome, opened}], devices: [{id, full_name, works, "
      "reason, "
      "ms}]}]}.");
  static constexpr SettingGroup kGroups[] = {SettingGroup::kLibraries};
  options->flags.add_to(app, kGroups);
  app.footer(
      "Shows every place where a vendor library was looked for with the loader's answer, the vendor's\n"
      "hardware that the system knows with what keeps it from being used, and runs a tiny model on\n"
      "every device. Exit status 1 when no device can run it.");
  app.callback([options, &chosen] { chosen = [options] { return doctor(*options); }; });
}

}  // namespace latebind::cli
