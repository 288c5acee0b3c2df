// The options shared by all commands that use a device.
#pragma once

#include <string>

#include "app/runtime.h"
#include "cli/terminal/setting_flags.h"
#include "core/placement/attestation.h"
#include "core/result.h"

namespace latebind::cli {

// The options of `latebind run` and similar commands. Commands that embed add more.
inline constexpr SettingGroup kRuntimeGroups[] = {SettingGroup::kPlacement, SettingGroup::kDevice,
                                                  SettingGroup::kFailover,  SettingGroup::kVerification,
                                                  SettingGroup::kCache,     SettingGroup::kBackends};

// Makes the runtime from the flags. If a vendor's emulator is used, its output is kept apart from the results. An error
// is due to the command line or the configuration.
[[nodiscard]] core::Result<app::Runtime> make_runtime(const SettingFlags& flags, core::PerformanceHint hint);

// "openvino:CPU (AMD EPYC …, runtime 2026.4.1-…), f32"
[[nodiscard]] std::string describe(const core::ActiveConfig& active);

// Prints a note with the reason if a fallback answers. Call it once per loaded model.
void note_fallback(const core::Attestation& attestation);

// Prints a note if another device took over after loading, according to the two attestations.
void note_takeover(const core::Attestation& before, const core::Attestation& after);

}  // namespace latebind::cli
