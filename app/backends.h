// The list of backends in this build. No other file names them.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "core/backend/backend_setting.h"
#include "core/backend/registry.h"

namespace latebind::app {

// The settings of all backends, in documentation order.
[[nodiscard]] std::vector<core::BackendSetting> backend_settings();

// Returns a registry of all backends, in order of preference. Loads no vendor library.
[[nodiscard]] core::Registry make_registry(const core::BackendSettingTexts& texts = {});

// The hidden commands that a backend runs in a child process. Each returns the line to print on standard output.
[[nodiscard]] std::string try_provider(const std::string& runtime_file, const std::string& provider_file);
[[nodiscard]] std::string compile_for_provider(const std::string& job_file);

}  // namespace latebind::app
