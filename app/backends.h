// The list of backends in this build. No other file names them.
#pragma once

#include <string_view>
#include <vector>

#include "core/backend/backend_setting.h"
#include "core/backend/child_command.h"
#include "core/backend/registry.h"

namespace latebind::app {

// Keys of settings that several backends share.
inline constexpr std::string_view kPluginPath = "backends.path";
inline constexpr std::string_view kTrialProgram = "backends.trial_program";
inline constexpr std::string_view kIsolate = "backends.isolate";
inline constexpr const char* kIsolateVariable = "LATEBIND_ISOLATE";
// Stands in it for all plug-ins.
inline constexpr std::string_view kIsolateAll = "all";

// The names of the built-in backends, in order of preference.
[[nodiscard]] std::vector<std::string_view> built_in_backends();

// The settings of all backends, in documentation order. Those of plug-ins are a family of the settings table.
[[nodiscard]] std::vector<core::BackendSetting> backend_settings();

// Returns a registry of all backends, in order of preference: the built-in ones, then the plug-ins of this machine.
// Loads no vendor library and no plug-in.
[[nodiscard]] core::Registry make_registry(const core::BackendSettingTexts& texts = {});

// The hidden commands that backends run in child processes.
[[nodiscard]] std::vector<core::ChildCommand> child_commands();

}  // namespace latebind::app
