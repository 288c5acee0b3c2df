// The options that every command with a device shares.
#pragma once

#include <string>

#include "app/runtime.h"
#include "cli/terminal/setting_flags.h"
#include "core/attestation.h"
#include "core/result.h"

namespace latebind::cli {

// What `latebind run` and its like can be told; commands that embed add their own.
inline constexpr SettingGroup kRuntimeGroups[] = {SettingGroup::kPlacement, SettingGroup::kDevice,
                                                  SettingGroup::kFailover, SettingGroup::kCache,
                                                  SettingGroup::kBackends};

// What the flags make, with results kept apart from what a vendor's emulation prints. Errors are mistakes in the
// command line or the configuration.
[[nodiscard]] core::Result<app::Runtime> make_runtime(const SettingFlags& flags, core::PerformanceHint hint);

// "openvino:CPU (AMD EPYC …, runtime 2026.4.1-…), f32"
[[nodiscard]] std::string describe(const core::ActiveConfig& active);

// Says the reason when something else than the preferred device answers. Once per loaded model.
void note_fallback(const core::Attestation& attestation);

// Says so when another device took over after loading: `before` and `after` are what was attested then and is now.
void note_takeover(const core::Attestation& before, const core::Attestation& after);

}  // namespace latebind::cli
