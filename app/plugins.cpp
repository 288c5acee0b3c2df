#include "app/plugins.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "app/backends.h"
#include "app/settings.h"
#include "backends/plugin/backend.h"
#include "backends/plugin/isolated/isolated_plugin.h"
#include "backends/plugin/isolated/serving.h"
#include "backends/plugin/isolated/wire.h"
#include "backends/plugin/load_plugin.h"
#include "core/log.h"
#include "core/placement/placement_words.h"
#include "core/platform/environment.h"
#include "core/platform/files/folders.h"
#include "core/text/nearest_word.h"
#include "core/vendor/library_names.h"

namespace latebind::app {
namespace {

// Returns the plug-in's name in the key of a setting, "toy" in "plugin.toy.speed"; empty for other keys.
std::string_view plugin_of(std::string_view key) {
  if (!key.starts_with(kPluginSettings)) return {};
  key.remove_prefix(kPluginSettings.size());
  return key.substr(0, key.find('.'));
}

// The plug-ins that the setting, or in a host of the library the variable, keeps in separate processes.
std::vector<std::string> isolated_names(const core::BackendSettingTexts& texts) {
  std::string names = core::text_of(texts, kIsolate);
  if (names.empty()) names = platform::trusted_environment(kIsolateVariable).value_or("");
  return core::split_paths(names, core::own_system());
}

void warn_of_unknown(const core::Registry& registry, const core::BackendSettingTexts& texts) {
  std::vector<std::string_view> known;
  const std::vector<std::string_view> built_in = built_in_backends();
  for (const auto& backend : registry.all()) {
    if (std::ranges::find(built_in, backend->name()) == built_in.end()) known.push_back(backend->name());
  }
  const auto check = [&](std::string_view key, std::string_view name) {
    if (std::ranges::find(known, name) != known.end()) return;
    const std::string_view nearest = core::nearest_word(name, known);
    core::log(core::LogLevel::kWarning,
              fmt::format("{} is set, but there is no plug-in {}{}; `latebind backends` lists them", key, name,
                          nearest.empty() ? "" : fmt::format(" (did you mean {}?)", nearest)));
  };
  for (const auto& [key, text] : texts) {
    if (const std::string_view name = plugin_of(key); !name.empty()) check(key, name);
  }
  for (const std::string& name : isolated_names(texts)) {
    if (name != kIsolateAll) check(kIsolate, name);
  }
}

core::Result<plugin::OpenedPlugin> opened(const plugin::PluginPointer& loaded, const plugin::PluginSettings& settings) {
  plugin::OpenedPlugin made;
  for (const plugin::Setting& one : loaded->settings)
    made.settings.push_back({one.key, one.value, one.help});
  LB_RETURN_IF_ERROR(loaded->check(settings));
  plugin::PluginSource source{.name = loaded->name,
                              .open = [loaded]() -> core::Result<plugin::PluginPointer> { return loaded; }};
  made.backend = std::make_shared<plugin::PluginBackend>(std::move(source), settings);
  return made;
}

core::Result<plugin::OpenedPlugin> open_plugin(const std::string& library, const std::string& digest,
                                               const plugin::PluginSettings& settings) {
  LB_ASSIGN_OR_RETURN(auto loaded, plugin::load_plugin(platform::path_from_utf8(library), digest));
  return opened(loaded, settings);
}

// Opens plug-ins in separate processes.
plugin::OpenPlugin open_isolated(core::TrialOptions options) {
  return [options = std::move(options)](const std::string& library, const std::string& digest,
                                        const plugin::PluginSettings& settings) -> core::Result<plugin::OpenedPlugin> {
    plugin::Isolation isolation;
    isolation.time = options.time;
    LB_ASSIGN_OR_RETURN(isolation.program, core::trial_program(options));
    LB_ASSIGN_OR_RETURN(auto loaded, plugin::load_isolated(platform::path_from_utf8(library), digest, isolation));
    return opened(loaded, settings);
  };
}

}  // namespace

plugin::PluginFacts plugin_facts(const core::BackendSettingTexts& texts) {
  auto facts = plugin::PluginFacts::gather(core::text_of(texts, kPluginPath));
  for (const std::string_view name : built_in_backends())
    facts.reserved.emplace_back(name);
  facts.reserved.insert(facts.reserved.end(), core::kPlacementWords.begin(), core::kPlacementWords.end());
  facts.reserved.insert(facts.reserved.end(), core::kGpuElsewhere.begin(), core::kGpuElsewhere.end());
  return facts;
}

plugin::PluginSearch find_plugins(const core::BackendSettingTexts& texts) {
  return plugin::search_plugins(plugin_facts(texts), core::FileSystem::real());
}

core::Status with_nameless_plugins(const core::Status& unknown, const core::BackendSettingTexts& texts) {
  const auto found = find_plugins(texts);
  const auto nameless = std::ranges::find(found.entries, "", [](const auto& entry) { return entry.manifest.name; });
  if (nameless == found.entries.end()) return unknown;
  return {unknown.code(), fmt::format("{}; the manifest {} of a plug-in is left out, and `latebind backends` says why",
                                      unknown.message(), nameless->file)};
}

plugin::FoundOptions plugin_options(const core::BackendSettingTexts& texts, std::string_view name) {
  plugin::FoundOptions options;
  options.trial.program = core::text_of(texts, kTrialProgram);
  const std::string prefix = fmt::format("{}{}.", kPluginSettings, name);
  for (const auto& [key, text] : texts) {
    if (key.starts_with(prefix)) options.settings.emplace(key.substr(prefix.size()), text);
  }
  return options;
}

core::ChildCommand contact_command() {
  static constexpr std::string_view kArguments[] = {"library", "name", "settings"};
  return {plugin::kContactCommand, "Opens a plug-in and runs a tiny model on its devices.", kArguments,
          [](std::span<const std::string> arguments) {
            return plugin::run_contact(open_plugin, arguments[0], arguments[1], arguments[2]);
          }};
}

core::ChildCommand hold_command() {
  static constexpr std::string_view kArguments[] = {"library"};
  return {plugin::kHoldCommand, "Keeps a plug-in for the program that has started this process.", kArguments,
          [](std::span<const std::string> arguments) -> std::string { plugin::hold_plugin(arguments[0]); }};
}

void add_plugins(core::Registry& registry, const core::BackendSettingTexts& texts) {
  const std::vector<std::string> isolated = isolated_names(texts);
  for (plugin::PluginEntry& entry : find_plugins(texts).entries) {
    if (!entry.is_chosen) continue;
    auto options = plugin_options(texts, entry.manifest.name);
    plugin::OpenPlugin open = open_plugin;
    if (std::ranges::any_of(isolated,
                            [&](const auto& name) { return name == entry.manifest.name || name == kIsolateAll; }))
      open = open_isolated(options.trial);
    const auto status = registry.add(plugin::make_found_backend(std::move(entry), std::move(open), std::move(options)));
    if (!status.ok()) core::log(core::LogLevel::kError, status.to_string());
  }
  warn_of_unknown(registry, texts);
}

}  // namespace latebind::app
