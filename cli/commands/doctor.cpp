// latebind doctor: shows what was searched for, what was found, what works, and how to fix the rest.
#include "app/jobs/doctor.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "app/backends.h"
#include "cli/terminal/byte_sink.h"
#include "cli/terminal/parser.h"
#include "cli/terminal/setting_flags.h"
#include "core/text/one_line.h"

namespace latebind::cli {
namespace {

struct DoctorArguments {
  SettingFlags flags{};
  bool json = false;
};

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
    text += fmt::format("  {} here{}: {}\n", core::one_line(note.name),
                        known.empty() ? "" : core::one_line(fmt::format(" ({})", fmt::join(known, ", "))),
                        core::one_line(note.status));
    if (!note.remedy.empty()) text += fmt::format("    to fix it: {}\n", core::one_line(note.remedy));
  }
  return text;
}

// "products       f32 101, bf16 182 (1.80 times f32), int8 310 (3.07): …"
std::string speeds_for_people(const app::Diagnosis& diagnosis) {
  if (diagnosis.speeds.empty()) return {};
  std::vector<std::string> speeds;
  const core::PrecisionSpeed& f32 = diagnosis.speeds.front();
  const core::PrecisionSpeed* fastest = &f32;
  for (const core::PrecisionSpeed& speed : diagnosis.speeds) {
    if (speed.gops > fastest->gops) fastest = &speed;
    const std::string ratio = &speed == &f32 ? "" : fmt::format(" ({:.2f} times f32)", speed.gops / f32.gops);
    speeds.push_back(fmt::format("{} {:.0f}{}", core::word_of(speed.precision), speed.gops, ratio));
  }
  return fmt::format("fastest in     {}: {} GOP/s on one thread, with {}'s instructions and native:CPU's kernels\n",
                     core::word_of(fastest->precision), fmt::join(speeds, ", "), diagnosis.instruction_set);
}

std::string for_people(const app::Diagnosis& diagnosis) {
  std::string text = fmt::format("latebind {} on {}\n", diagnosis.version, diagnosis.platform);
  text += fmt::format("processor      {}, {} usable\n", core::one_line(diagnosis.cpu), diagnosis.processors);
  text += fmt::format("features       {}\n", fmt::join(diagnosis.cpu_features, " "));
  text += speeds_for_people(diagnosis);
  text += fmt::format("cache folder   {}\n", diagnosis.cache_folder);
  text += fmt::format("config folder  {}, then {}\n", diagnosis.config_folder, diagnosis.system_config_folder);
  for (const app::Diagnosis::OfBackend& backend : diagnosis.backends) {
    const core::BackendReport& report = backend.report;
    text += fmt::format("\n{}: {}\n", report.name,
                        report.status.ok() ? "available, runtime " + core::one_line(report.runtime_version)
                                           : "not available: " + core::one_line(report.status.to_string()));
    const bool is_built_in = report.diagnosis.is_built_in;
    if (!is_built_in) text += "  looked for its library in:\n";
    for (const core::SearchStep& step : backend.report.diagnosis.search) {
      text += fmt::format("    {} {}  ({}){}\n", step.opened ? "+" : "-", core::one_line(step.place),
                          core::one_line(step.source), step.opened ? "" : ": " + core::one_line(step.outcome));
    }
    if (!is_built_in && report.diagnosis.search.empty()) text += "    nowhere\n";
    for (const app::Diagnosis::OfDevice& device : backend.devices) {
      text += fmt::format("  {}: {}  {}\n", device.device.id(),
                          device.status.ok() ? fmt::format("works ({:.0f} ms)", device.ms)
                                             : "does not work: " + core::one_line(device.status.to_string()),
                          core::one_line(device.device.full_name));
    }
    text += hardware_for_people(backend.report.diagnosis.hardware);
    for (const core::UnavailablePart& part : report.diagnosis.unavailable) {
      text += fmt::format("  {} cannot be used: {}\n", core::one_line(part.name), core::one_line(part.reason));
    }
    if (!report.status.ok() && !is_built_in)
      text += fmt::format("  to install it: {}\n", backend.report.diagnosis.install_hint);
  }
  text += "\nplug-ins: looked for manifests in:\n";
  for (const core::SearchStep& step : diagnosis.plugin_search) {
    text += fmt::format("    {}  ({}): {}\n", core::one_line(step.place), core::one_line(step.source),
                        core::one_line(step.outcome));
  }
  const bool runs_files = std::ranges::any_of(diagnosis.backends, [](const app::Diagnosis::OfBackend& backend) {
    return std::ranges::any_of(backend.devices, [](const app::Diagnosis::OfDevice& one) {
      return one.status.ok() && !one.device.traits.graphs_only;
    });
  });
  text += runs_files        ? "\nReady: a model can run here.\n"
          : diagnosis.works ? "\n"
                              "Ready for embedding models. To run model files, too, install one of:\n"
                            : "\n"
                              "Not ready: no device can run a model. To fix it, install one of:\n";
  if (!runs_files) {
    for (const app::Diagnosis::OfBackend& backend : diagnosis.backends) {
      if (diagnosis.works && backend.report.status.ok()) continue;
      text += fmt::format("  {:<12} {}\n", backend.report.name, backend.report.diagnosis.install_hint);
    }
  }
  return text;
}

Exit doctor(const DoctorArguments& options) {
  const auto settings = options.flags.effective();
  if (!settings.ok()) return misuse("doctor", settings.status().message());
  const core::Registry registry = app::make_registry(settings->of_backends());
  const auto diagnosis = app::examine(registry, *settings, {});
  if (!diagnosis.ok()) return fail(diagnosis.status());
  const auto printed = print(options.json ? app::to_text(app::to_json(*diagnosis)) : for_people(*diagnosis));
  if (!printed.ok()) return fail(printed);
  return diagnosis->works ? Exit::kGood : Exit::kFailed;
}

}  // namespace

void add_doctor(Command& program, Action& chosen) {
  auto options = std::make_shared<DoctorArguments>();
  Command& app = *program.add_subcommand("doctor", "Checks what works here and prints the commands that fix the rest.");
  app.add_flag(
      "--json", options->json,
      "Prints {version, platform, works, cpu: {name, usable_processors, features, instruction_set, precisions: "
      "[{precision, "
      "gops, times_f32}]}, "
      "folders: {cache, config, system_config}, backends: [{name, available, "
      "runtime_version, code, reason, install, unavailable: [{name, reason}], hardware: [{name, kind, node, ready, "
      "status, remedy, metadata}], search: [{place, source, outcome, opened}], devices: [{id, full_name, works, "
      "reason, "
      "ms}]}], plugin_search: [{place, source, outcome}]}.");
  static constexpr SettingGroup kGroups[] = {SettingGroup::kBackends};
  options->flags.add_to(app, kGroups);
  app.footer(
      "Shows every place where a vendor's library was looked for and the loader's answer, the vendors'\n"
      "hardware that the system reports and what prevents its use, and runs a tiny model on every\n"
      "device. The exit status is 1 if no device can run it. It also multiplies matrices for 100 ms in\n"
      "each precision that native:CPU supports here, because the fastest one depends on the processor;\n"
      "`latebind bench embed --precision f32,bf16` measures a whole model.");
  app.callback([options, &chosen] { chosen = [options] { return doctor(*options); }; });
}

}  // namespace latebind::cli
