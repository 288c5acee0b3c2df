#include "cli/terminal/runtime_options.h"

#include <fmt/format.h>

#include <string_view>

#include "cli/terminal/byte_sink.h"
#include "cli/terminal/messages.h"
#include "cli/terminal/parser.h"

namespace latebind::cli {

using core::Result;
using core::Status;
using core::StatusCode;

void RuntimeOptions::add_to(CLI::App& app, std::span<const SettingGroup> groups) {
  flags.add_to(app, groups);
  add_texts(app, "--property", properties, "KEY=VALUE",
            "Passes a property to the vendor as it is, after all others. May be given several "
            "times.")
      ->group("Device");
}

Result<app::Runtime> make_runtime(const RuntimeOptions& options, core::PerformanceHint hint) {
  LB_ASSIGN_OR_RETURN(auto settings, options.flags.effective());
  for (const std::string& property : options.properties) {
    const auto equals = property.find('=');
    if (equals == 0 || equals == std::string::npos) {
      return Status(StatusCode::kInvalidArgument, fmt::format("--property must be KEY=VALUE, not '{}'", property));
    }
    const std::string key = "property." + property.substr(0, equals);
    LB_RETURN_IF_ERROR(settings.set(key, std::string_view(property).substr(equals + 1), "--property"));
  }
  LB_ASSIGN_OR_RETURN(auto runtime, app::Runtime::make(settings, {.hint = hint}));
  // Qualcomm's emulation prints a line to stdout.
  if (runtime.settings.emulate) keep_results_apart();
  return runtime;
}

std::string describe(const core::ActiveConfig& active) {
  std::string vendor = active.device_full_name;
  if (!active.runtime_version.empty()) {
    vendor += fmt::format("{}runtime {}", vendor.empty() ? "" : ", ", active.runtime_version);
  }
  std::string shapes;
  if (!active.fixed_lengths.empty()) {
    shapes = fmt::format(", fixed shapes of {} x {}", active.fixed_rows, fmt::join(active.fixed_lengths, "/"));
  }
  return fmt::format("{}:{}{}{}{}{}, {}{}", active.backend, active.device, vendor.empty() ? "" : " (", vendor,
                     vendor.empty() ? "" : ")", active.emulated ? ", emulated" : "", core::word_of(active.precision),
                     shapes);
}

void note_fallback(const core::Attestation& attestation) {
  if (attestation.fallback) note(fmt::format("fallback: {} (`latebind doctor` tells more)", attestation.reason));
}

void note_takeover(const core::Attestation& before, const core::Attestation& after) {
  const bool same = before.active.backend == after.active.backend && before.active.device == after.active.device;
  if (!same) note_fallback(after);
}

}  // namespace latebind::cli
