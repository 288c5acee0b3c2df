// The only place that lists the backends.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "core/backend_setting.h"
#include "core/registry.h"

namespace latebind::app {

// The settings of the backends of this build, in the order in which documents list them.
[[nodiscard]] std::vector<core::BackendSetting> backend_settings();

// A registry with every backend of this build, in order of preference. Loads nothing.
[[nodiscard]] core::Registry make_registry(const core::BackendSettingTexts& texts = {});

// What the hidden commands of the program do when a backend starts it as a child: the line for standard output.
[[nodiscard]] std::string try_provider(const std::string& runtime_file, const std::string& provider_file);
[[nodiscard]] std::string compile_for_provider(const std::string& job_file);

}  // namespace latebind::app
