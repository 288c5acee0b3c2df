// The flags of a command that are settings, from the table that config.toml and the environment also use
// (app/settings.h), plus --property and --config.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "app/settings.h"
#include "core/result.h"

namespace latebind::cli {

class Command;

// Settings grouped by their use in commands.
enum class SettingGroup { kBackends, kPlacement, kDevice, kFailover, kVerification, kCache, kEmbedding, kServer };

class SettingFlags {
 public:
  // Adds the flags of these groups, and those of the settings whose keys are in `also`. An invalid value is a
  // command-line error that names the flag. This object must outlive `app`'s parsing and must not move.
  void add_to(Command& app, std::span<const SettingGroup> groups, std::initializer_list<std::string_view> also = {});

  // Merges defaults, configuration files, environment and the flags of this command line. Errors name the origin.
  [[nodiscard]] core::Result<app::EffectiveSettings> effective() const;

  // Adds an item to a list setting, as if the command line had given it by `flag`.
  void add(std::string_view key, std::string_view text, std::string flag);

  // Whether this command line gave the setting.
  [[nodiscard]] bool has(std::string_view key) const;

 private:
  // A setting that the command line gave.
  struct Given {
    std::string key;
    std::string text;
    std::string flag;
  };

  std::string config_file_;
  std::vector<Given> given_;                  // in the order of the command line
  std::vector<std::string> properties_;       // KEY=VALUE
  std::vector<std::string> plugin_settings_;  // NAME.KEY=VALUE
};

// The group of a setting, by its key.
[[nodiscard]] SettingGroup group_of(std::string_view key);

}  // namespace latebind::cli
