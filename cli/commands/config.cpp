// latebind config: shows the settings and where each value came from.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "app/json_text.h"
#include "cli/terminal/byte_sink.h"
#include "cli/terminal/parser.h"
#include "cli/terminal/setting_flags.h"
#include "core/platform/files/folders.h"
#include "core/text/ascii.h"
#include "core/text/one_line.h"

namespace latebind::cli {
namespace {

struct ConfigArguments {
  SettingFlags flags{};
  bool json = false;
  bool reference = false;
  std::vector<std::string> keys{};
};

// Hides the values of secrets, since the output ends up on screens and in bug reports.
std::string shown_value(const app::EffectiveSettings& settings, const std::string& key) {
  const std::string& value = settings.text_of(key);
  const app::SettingSpec* spec = app::find_setting(key);
  return spec != nullptr && spec->is_secret && !value.empty() ? "(not shown)" : value;
}

std::string for_people(const app::EffectiveSettings& settings, const std::vector<std::string>& keys) {
  std::size_t width = 0;
  for (const std::string& key : keys)
    width = std::max(width, key.size());
  std::string text;
  for (const std::string& key : keys) {
    text += fmt::format("{:<{}} = {:<12}  # {}\n", core::one_line(key), width,
                        core::one_line(shown_value(settings, key)), core::one_line(settings.origin_of(key)));
  }
  return text;
}

std::string for_programs(const app::EffectiveSettings& settings, const std::vector<std::string>& keys) {
  app::Json json;
  json["settings"] = app::Json::array();
  for (const std::string& key : keys) {
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
      "origin of each value, `latebind config KEY` one of them. A user's file that is not readable, for example "
      "because\n"
      "`HOME` belongs to another user, is skipped with a warning; the other files must be readable\n"
      "([why](decisions/0141-unreadable-settings.md)).\n"
      "\n"
      "Programs that use the C interface set the same keys (`lb_options_set`). They read files and the environment "
      "only if\n"
      "they ask for it; the search for vendors' libraries always reads its variables.\n"
      "\n"
      "`latebind config --reference` prints this page.\n";
  for (const app::SettingSpec& spec : app::settings_schema()) {
    text += fmt::format("\n## `{}`\n\n{}\n\n", spec.shown_key(), spec.help);
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

// Returns the line of a config.toml that sets the key.
std::string toml_line(const app::SettingSpec& spec, const std::string& key, const std::string& value) {
  const std::string name =
      spec.is_family() ? std::string(spec.key) + app::Json(key.substr(spec.key.size())).dump() : key;
  const bool is_bare =
      spec.is_truth() || (spec.takes_numbers() && !value.empty() && std::ranges::all_of(value, core::is_ascii_digit));
  const std::string shown = spec.is_secret ? "..." : value;
  return fmt::format("{} = {}", name, is_bare ? shown : app::Json(shown).dump());
}

// The answer to `latebind config set KEY VALUE`: this command writes nothing, so it says what to write.
core::Status how_to_set(std::span<const std::string> words) {
  constexpr std::string_view kWhat = "`latebind config` prints settings and changes none";
  const auto mistake = [](std::string text) {
    return core::Status(core::StatusCode::kInvalidArgument, std::move(text));
  };
  if (words.empty()) {
    return mistake(
        fmt::format("{}: they stand in a config.toml, in variables or on the command line "
                    "(docs/configuration.md)",
                    kWhat));
  }
  std::string key = words[0];
  std::optional<std::string> value;
  if (words.size() > 1) value = words[1];
  if (const auto equals = key.find('='); equals != std::string::npos && words.size() == 1) {
    value = key.substr(equals + 1);
    key.resize(equals);
  }
  const app::SettingSpec* const spec = app::find_setting(key);
  if (spec == nullptr) return app::unknown_setting_error(key);
  if (!value) return mistake(fmt::format("{}; 'set {}' also has no value", kWhat, core::one_line(key)));
  app::EffectiveSettings scratch;
  LB_RETURN_IF_ERROR(scratch.set(key, *value, ""));
  const auto folder = platform::config_folder();
  const auto file = folder.ok() ? platform::path_to_utf8(*folder / "config.toml") : std::string("a config.toml");
  std::string others;
  if (!spec->environment.empty()) others += fmt::format(", set {}", spec->environment);
  if (!spec->flag.empty()) others += fmt::format(", or give {} to a command", spec->flag);
  return mistake(fmt::format("{}: write `{}` at the top of {}{}", kWhat, toml_line(*spec, key, *value), file, others));
}

// Returns the keys to print: those that are named, or all.
core::Result<std::vector<std::string>> wanted_keys(const ConfigArguments& options,
                                                   const app::EffectiveSettings& settings) {
  if (options.keys.empty()) return settings.keys();
  const auto& words = options.keys;
  if (words.front() == "set") return how_to_set(std::span(words).subspan(1));
  for (const std::string& key : words) {
    if (key.find('=') != std::string::npos) return how_to_set({&key, 1});
    if (app::find_setting(key) == nullptr) return app::unknown_setting_error(key);
  }
  return words;
}

Exit config(const ConfigArguments& options) {
  if (options.reference) {
    const auto printed = print(reference());
    return printed.ok() ? Exit::kGood : fail(printed);
  }
  const auto settings = options.flags.effective();
  if (!settings.ok()) return misuse("config", settings.status().message());
  const auto keys = wanted_keys(options, *settings);
  if (!keys.ok()) return misuse("config", keys.status().message());
  const auto printed = print(options.json ? for_programs(*settings, *keys) : for_people(*settings, *keys));
  return printed.ok() ? Exit::kGood : fail(printed);
}

}  // namespace

void add_config(Command& program, Action& chosen) {
  auto options = std::make_shared<ConfigArguments>();
  Command& app = *program.add_subcommand("config", "Prints the settings in force and the origin of each value.");
  add_texts(app, "KEY", options->keys, "KEY", "A setting to print (default: all).");
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
