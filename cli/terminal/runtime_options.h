// The options that every command with a device shares.
#pragma once

#include <string>

#include "app/runtime.h"
#include "cli/terminal/setting_flags.h"
#include "core/attestation.h"
#include "core/result.h"

namespace latebind::cli {

// The options of `latebind run` and similar commands; commands that embed add their own.
inline constexpr SettingGroup kRuntimeGroups[] = {SettingGroup::kPlacement, SettingGroup::kDevice,
                                                  SettingGroup::kFailover,  SettingGroup::kVerification,
                                                  SettingGroup::kCache,     SettingGroup::kBackends};

// The runtime from the flags, with results kept apart from what a vendor's emulator prints. Errors are in the command
// line or the configuration.
[[nodiscard]] core::Result<app::Runtime> make_runtime(const SettingFlags& flags, core::PerformanceHint hint);

// "openvino:CPU (AMD EPYC …, runtime 2026.4.1-…), f32"
[[nodiscard]] std::string describe(const core::ActiveConfig& active);

// Reports the reason when a device other than the preferred one answers. Once per loaded model.
void note_fallback(const core::Attestation& attestation);

// Reports when another device took over after loading: `before` and `after` are the attestations then and now.
void note_takeover(const core::Attestation& before, const core::Attestation& after);

}  // namespace latebind::cli
