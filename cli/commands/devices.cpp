// latebind devices: lists every device present, and why a backend has no device.
#include "app/jobs/devices.h"

#include <fmt/format.h>

#include <memory>
#include <optional>
#include <string>

#include "app/backends.h"
#include "app/runtime.h"
#include "cli/terminal/byte_sink.h"
#include "cli/terminal/parser.h"
#include "cli/terminal/setting_flags.h"
#include "core/text/one_line.h"

namespace latebind::cli {
namespace {

struct DevicesArguments {
  SettingFlags flags{};
  bool json = false;
  bool explain = false;
  bool virtual_too = false;
};

// "1. openvino:CPU …": the devices of a placement, in the order in which they are tried.
std::string explanation(const app::PlacementListing& placement, const core::Registry& registry, bool strict) {
  std::string text =
      fmt::format("'{}' is tried in this order, in {}{}:\n", placement.text, core::word_of(placement.precision),
                  strict ? ", and strict allows only the first" : "");
  std::size_t number = 0;
  std::string refused;
  for (const auto& candidate : placement.candidates) {
    if (candidate.device) {
      const core::Device& device = *candidate.device;
      text += fmt::format("  {}. {} ({})\n", ++number, device.id(), core::word_of(device.kind));
      if (!device.traits.preferred_in.empty()) {
        text += fmt::format("     first of its kind in {}, for models from safetensors: {}\n",
                            core::words_of(device.traits.preferred_in), device.traits.preferred_because);
      }
    } else {
      refused += fmt::format("  {}: {}\n", candidate.refusal.device, core::one_line(candidate.refusal.brief));
    }
  }
  if (number == 0) text += "  nothing\n";
  if (!refused.empty()) text += fmt::format("not there:\n{}", refused);
  std::string backends;
  for (const auto& backend : registry.all())
    backends += fmt::format("{}{}", backends.empty() ? "" : ", ", backend->name());
  text += fmt::format(
      "The rules: the words of the placement are tried in their order; auto means npu, gpu, cpu. Among devices of one "
      "kind,\n"
      "the one that was measured to be fastest comes first if it supports the model and the precision; then the "
      "backends\n"
      "follow in the order {}, each with its devices as it lists them. Each device counts once.\n"
      "A virtual device cannot run models and is skipped, unless it is named exactly and --emulate is given. The first "
      "device\n"
      "that can load the model answers. While it fails, the next one answers.\n",
      backends);
  return text;
}

std::string for_people(const app::DeviceListing& listing) {
  std::string text;
  for (const auto& report : listing.backends) {
    for (const core::Device& device : report.devices) {
      text += fmt::format("{:<18} {:<5} {}, runtime {}{}\n", device.id(), core::word_of(device.kind),
                          core::one_line(device.full_name), core::one_line(device.runtime_version),
                          device.is_virtual() ? ", virtual" : "");
      for (const auto& [key, value] : device.facts()) {
        text += fmt::format("    {} = {}\n", key, core::one_line(value));
      }
    }
    if (!report.status.ok()) {
      // `latebind doctor` shows where the library was searched for.
      text += fmt::format("{:<18} not available: {}\n", report.name, core::one_line(report.status.brief()));
      if (!report.diagnosis.is_built_in) text += fmt::format("    to install: {}\n", report.diagnosis.install_hint);
    } else if (report.devices.empty()) {
      text += fmt::format("{:<18} available (runtime {}), but offers no device here\n", report.name,
                          core::one_line(report.runtime_version));
    }
    for (const core::UnavailablePart& part : report.diagnosis.unavailable) {
      text += fmt::format("{:<18} {} cannot be used: {}\n", report.name, core::one_line(part.name),
                          core::one_line(part.reason));
    }
  }
  return text;
}

Exit devices(const DevicesArguments& options) {
  const auto settings = options.flags.effective();
  if (!settings.ok()) return misuse("devices", settings.status().message());
  const core::Registry registry = app::make_registry(settings->of_backends());
  const auto placement = app::placement_of(*settings, registry);
  if (!placement.ok()) return misuse("devices", placement.status().message());
  const auto listing = app::list_devices(registry, options.virtual_too);
  std::optional<app::PlacementListing> explained;
  if (options.explain) {
    explained =
        app::list_placement(*placement, registry, settings->values().emulate, settings->values().precisions.front());
  }
  std::string text;
  if (options.json) {
    app::Json json = app::to_json(listing);
    if (explained) json["placement"] = app::to_json(*explained);
    text = app::to_text(json);
  } else {
    text = for_people(listing);
    if (explained) text += "\n" + explanation(*explained, registry, settings->values().strict);
  }
  const auto printed = print(text);
  return printed.ok() ? Exit::kGood : fail(printed);
}

}  // namespace

void add_devices(Command& program, Action& chosen) {
  auto options = std::make_shared<DevicesArguments>();
  Command& app = *program.add_subcommand("devices", "Lists the available devices.");
  app.add_flag(
      "--json", options->json,
      "Prints {version, devices: [{id, backend, name, kind, full_name, runtime_version, "
      "virtual, metadata}], backends: [{name, available, runtime_version, code, reason, "
      "install, unavailable: [{name, reason}]}]}; with --explain also placement: {text, precision, devices, refused: "
      "[{device, reason}]}.");
  app.add_flag("--explain", options->explain,
               "Prints the order in which the devices of --device are tried in the first precision of --precision, and "
               "the rules.");
  app.add_flag("--virtual", options->virtual_too,
               "Also lists devices that are not in this machine but can be compiled for. Their metadata says whether "
               "the compiler is installed and whether the vendor's emulator is available here.");
  static constexpr SettingGroup kGroups[] = {SettingGroup::kPlacement, SettingGroup::kBackends};
  options->flags.add_to(app, kGroups, {"precision"});
  app.footer(
      "Lists every device with its backend, kind, full name and metadata. For a backend that is not\n"
      "available, it prints the reason and the command that installs it. The exit status is 0 even if\n"
      "there is no device: run `latebind doctor` for a verdict.");
  app.callback([options, &chosen] { chosen = [options] { return devices(*options); }; });
}

}  // namespace latebind::cli
