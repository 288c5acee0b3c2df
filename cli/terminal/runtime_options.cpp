#include "cli/terminal/runtime_options.h"

#include <fmt/format.h>

#include "cli/terminal/byte_sink.h"
#include "cli/terminal/messages.h"

namespace latebind::cli {

using core::Result;

Result<app::Runtime> make_runtime(const SettingFlags& flags, core::PerformanceHint hint) {
  LB_ASSIGN_OR_RETURN(const auto settings, flags.effective());
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
  if (!active.static_lengths.empty()) {
    shapes = fmt::format(", static shapes of {} x {}", active.static_rows, fmt::join(active.static_lengths, "/"));
  }
  std::string nodes;
  if (active.host_nodes > 0) {
    nodes = fmt::format(", {} of {} nodes, the others on the CPU", active.nodes - active.host_nodes, active.nodes);
  }
  return fmt::format("{}{}{}{}{}, {}{}{}", active.id(), vendor.empty() ? "" : " (", vendor, vendor.empty() ? "" : ")",
                     active.emulated ? ", emulated" : "", core::word_of(active.precision), shapes, nodes);
}

void note_fallback(const core::Attestation& attestation) {
  if (attestation.fallback) note(fmt::format("fallback: {} (for details, run `latebind doctor`)", attestation.reason));
}

void note_takeover(const core::Attestation& before, const core::Attestation& after) {
  const bool same = before.active.backend == after.active.backend && before.active.device == after.active.device;
  if (!same) note_fallback(after);
}

}  // namespace latebind::cli
