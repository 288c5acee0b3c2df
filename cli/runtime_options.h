// The options that every command with a device shares, and what becomes of them: backends, engine, placement.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "app/settings.h"
#include "cli/setting_flags.h"
#include "core/engine.h"
#include "core/placement.h"
#include "core/registry.h"
#include "core/result.h"

namespace CLI {
class App;
}

namespace latebind::cli {

// What `latebind run` and its like can be told; commands that embed add their own.
inline constexpr SettingGroup kRuntimeGroups[] = {SettingGroup::kPlacement, SettingGroup::kDevice,
                                                  SettingGroup::kFailover, SettingGroup::kCache,
                                                  SettingGroup::kLibraries};

// Flags of settings, and --property.
struct RuntimeOptions {
  SettingFlags flags{};
  std::vector<std::string> properties{};  // KEY=VALUE

  void add_to(CLI::App& app, std::span<const SettingGroup> groups = kRuntimeGroups);
};

// Settings, backends, engine, and where to place the model. Loads nothing. Keep it longer than what it loads.
struct Runtime {
  app::Settings settings;
  core::Registry registry;
  core::Placement placement;
  core::LoadOptions load;
  // False when nobody has set the precision: then a command may choose what fits the device.
  bool precision_given = false;

  [[nodiscard]] core::Engine engine() const { return core::Engine(registry); }

  // Errors are mistakes in the command line or the configuration.
  static core::Result<Runtime> make(const RuntimeOptions& options, core::PerformanceHint hint);
};

// "openvino:CPU (AMD EPYC …, runtime 2026.4.1-…), f32"
[[nodiscard]] std::string describe(const core::ActiveConfig& active);

// Says the reason when something else than the preferred device answers. Once per loaded model.
void note_fallback(const core::Attestation& attestation);

// Says so when another device took over after loading: `before` and `after` are what was attested then and is now.
void note_takeover(const core::Attestation& before, const core::Attestation& after);

}  // namespace latebind::cli
