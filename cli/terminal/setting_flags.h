// The flags of a command that are settings, made from the one table that also makes config.toml and the environment
// (app/settings.h); and --config.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "app/settings.h"
#include "core/result.h"

namespace CLI {
class App;
}

namespace latebind::cli {

// Settings by what a command has to do with them.
enum class SettingGroup { kBackends, kPlacement, kDevice, kFailover, kCache, kEmbedding };

class SettingFlags {
 public:
  // Adds the flags of these groups. A wrong value is a mistake in the command line that names the flag. This object
  // must outlive `app`'s parsing, and stay where it is.
  void add_to(CLI::App& app, std::span<const SettingGroup> groups);

  // Defaults, configuration files, environment, then the flags of this command line. Errors name the place.
  [[nodiscard]] core::Result<app::EffectiveSettings> effective() const;

  // Whether this command line gave the setting with that key.
  [[nodiscard]] bool has(std::string_view key) const;

 private:
  std::string config_file_;
  // What the command line gave, in its order: setting, text.
  std::vector<std::pair<const app::SettingSpec*, std::string>> given_;
};

// The group of a setting, by its key.
[[nodiscard]] SettingGroup group_of(std::string_view key);

}  // namespace latebind::cli
