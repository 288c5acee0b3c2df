// The plug-ins of this machine: backends in shared libraries of their own, found by their manifests.
#pragma once

#include <string>
#include <string_view>

#include "backends/plugin/found/found_backend.h"
#include "backends/plugin/found/plugin_search.h"
#include "core/backend/backend_setting.h"
#include "core/backend/child_command.h"
#include "core/backend/registry.h"
#include "core/status.h"

namespace latebind::app {

// What the search depends on here. Functions that take `texts` take the settings of backends, by key.
[[nodiscard]] plugin::PluginFacts plugin_facts(const core::BackendSettingTexts& texts);

// Searches for manifests. Opens no library.
[[nodiscard]] plugin::PluginSearch find_plugins(const core::BackendSettingTexts& texts);

// Adds to the error for an unknown backend that there are manifests whose names are not known: those that cannot be
// read, and those that are not trusted.
[[nodiscard]] core::Status with_nameless_plugins(const core::Status& unknown, const core::BackendSettingTexts& texts);

// How the plug-in of this name is opened.
[[nodiscard]] plugin::FoundOptions plugin_options(const core::BackendSettingTexts& texts, std::string_view name);

// The hidden command by which a child process makes first contact with a plug-in.
[[nodiscard]] core::ChildCommand contact_command();

// The hidden command of the process that keeps an isolated plug-in.
[[nodiscard]] core::ChildCommand hold_command();

// Adds the plug-ins that are found to the registry, behind what it has. Logs settings of plug-ins that are not there.
void add_plugins(core::Registry& registry, const core::BackendSettingTexts& texts);

}  // namespace latebind::app
