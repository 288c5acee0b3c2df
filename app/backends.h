// The list of backends in this build. No other file names them.
#pragma once

#include <vector>

#include "core/backend/backend_setting.h"
#include "core/backend/child_command.h"
#include "core/backend/registry.h"

namespace latebind::app {

// The settings of all backends, in documentation order.
[[nodiscard]] std::vector<core::BackendSetting> backend_settings();

// Returns a registry of all backends, in order of preference. Loads no vendor library.
[[nodiscard]] core::Registry make_registry(const core::BackendSettingTexts& texts = {});

// The hidden commands that backends run in child processes.
[[nodiscard]] std::vector<core::ChildCommand> child_commands();

}  // namespace latebind::app
