// latebind config: shows the settings and where each value came from.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <string>

#include "app/json_text.h"
#include "cli/terminal/byte_sink.h"
#include "cli/terminal/parser.h"
#include "cli/terminal/setting_flags.h"
#include "core/text/one_line.h"

namespace latebind::cli {
namespace {

struct ConfigArguments {
  SettingFlags flags{};
  bool json = false;
  bool reference = false;
};

// Hides the values of secrets, since the output ends up on screens and in bug reports.
std::string shown_value(const app::EffectiveSettings& settings, const std::string& key) {
  const std::string& value = settings.text_of(key);
  const app::SettingSpec* spec = app::find_setting(key);
  return spec != nullptr && spec->is_secret && !value.empty() ? "(not shown)" : value;
}

std::string for_people(const app::EffectiveSettings& settings) {
  std::size_t width = 0;
  for (const std::string& key : settings.keys())
    width = std::max(width, key.size());
  std::string text;
  for (const std::string& key : settings.keys()) {
    text += fmt::format("{:<{}} = {:<12}  # {}\n", core::one_line(key), width,
                        core::one_line(shown_value(settings, key)), core::one_line(settings.origin_of(key)));
  }
  return text;
}

std::string for_programs(const app::EffectiveSettings& settings) {
  app::Json json;
  json["settings"] = app::Json::array();
  for (const std::string& key : settings.keys()) {
    app::Json one;
    one["key"] = key;
    one["value"] = shown_value(settings, key);
    one["origin"] = settings.origin_of(key);
    json["settings"].push_back(std::move(one));
  }
  return app::to_text(json);
}

// The whole of docs/configuration.md.
std::string reference() {
  std::string text =
      "# Configuration\n"
      "\n"
      "A setting can be given in three places. A later place in this list overrides an earlier one:\n"
      "\n"
      "1. a `config.toml`: first `/etc/latebind/config.toml`, then `$XDG_CONFIG_HOME/latebind/config.toml` (by "
      "default\n"
      "   `~/.config/latebind/config.toml`), then the file that `--config` names;\n"
      "2. an environment variable;\n"
      "3. a flag. A flag that is true or false is given as `--name`, `--no-name` or `--name=false`.\n"
      "\n"
      "An unknown key, an unknown variable that begins with `LATEBIND_`, and an unknown word in a value are errors "
      "that name\n"
      "the nearest known one. A process that runs with more rights than its caller (such as a setuid program) does not "
      "read\n"
      "the caller's file and ignores the variables marked *trusted*. `latebind config` prints the settings in force "
      "and the\n"
      "origin of each value. A user's file that is not readable, for example because `HOME` belongs to another user, "
      "is\n"
      "skipped with a warning; the other files must be readable "
      "([why](decisions/0141-unreadable-settings.md)).\n"
      "\n"
      "Programs that use the C interface set the same keys (`lb_options_set`). They read files and the environment "
      "only if\n"
      "they ask for it; the search for vendors' libraries always reads its variables.\n"
      "\n"
      "`latebind config --reference` prints this page.\n";
  for (const app::SettingSpec& spec : app::settings_schema()) {
    text += fmt::format("\n## `{}{}`\n\n{}\n\n", spec.key, spec.is_family() ? "KEY" : "", spec.help);
    const std::string value = spec.is_family() ? "" : spec.text(app::Settings{}, spec.key);
    text +=
        fmt::format("- value: `{}`, default {}\n", spec.value, value.empty() ? "empty" : fmt::format("`{}`", value));
    const std::string_view trusted = spec.trusted ? " (*trusted*)" : "";
    text += spec.environment.empty() ? fmt::format("- environment: none{}\n", trusted)
                                     : fmt::format("- environment: `{}`{}\n", spec.environment, trusted);
    if (!spec.flag.empty()) text += fmt::format("- flag: `{}`\n", spec.flag);
  }
  return text;
}

Exit config(const ConfigArguments& options) {
  if (options.reference) {
    const auto printed = print(reference());
    return printed.ok() ? Exit::kGood : fail(printed);
  }
  const auto settings = options.flags.effective();
  if (!settings.ok()) return misuse("config", settings.status().message());
  const auto printed = print(options.json ? for_programs(*settings) : for_people(*settings));
  return printed.ok() ? Exit::kGood : fail(printed);
}

}  // namespace

void add_config(Command& program, Action& chosen) {
  auto options = std::make_shared<ConfigArguments>();
  Command& app = *program.add_subcommand("config", "Prints the settings in force and the origin of each value.");
  app.add_flag("--json", options->json, "Prints {settings: [{key, value, origin}]}.");
  app.add_flag("--reference", options->reference, "Prints the reference of all settings (docs/configuration.md).");
  static constexpr SettingGroup kGroups[] = {
      SettingGroup::kEmbedding,    SettingGroup::kPlacement, SettingGroup::kDevice,  SettingGroup::kFailover,
      SettingGroup::kVerification, SettingGroup::kCache,     SettingGroup::kBackends};
  options->flags.add_to(app, kGroups);
  app.footer(
      "The output has the form of a config.toml, with the origin of each value after it. Flags of\n"
      "settings are accepted as by the other commands.");
  app.callback([options, &chosen] { chosen = [options] { return config(*options); }; });
}

}  // namespace latebind::cli
