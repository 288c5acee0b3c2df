#include "cli/terminal/setting_flags.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "cli/terminal/parser.h"
#include "core/platform/files/folders.h"

namespace latebind::cli {
namespace {

bool is_about_devices(SettingGroup group) {
  return group != SettingGroup::kEmbedding && group != SettingGroup::kServer;
}

const char* title_of(SettingGroup group) {
  if (group == SettingGroup::kEmbedding) return "Embedding";
  if (group == SettingGroup::kServer) return "Daemon";
  return "Devices and compiled models (see docs/configuration.md)";
}

// The most common settings, for -h.
bool is_main(const app::SettingSpec& spec, SettingGroup group) {
  return group == SettingGroup::kServer || spec.key == "device" || spec.key == "precision";
}

// "Devices to try … (default auto; LATEBIND_DEVICE)"
std::string description_of(const app::SettingSpec& spec) {
  const std::string value = spec.text(app::Settings{}, spec.key);
  return fmt::format("{} (default {}; {})", spec.help, value.empty() ? "empty" : value, spec.environment);
}

core::Status check(const app::SettingSpec& spec, const std::string& text) {
  // A list that is empty unless something is set has no other way to be: nothing was meant, or a variable of a script
  // has no value. Where emptiness says something, the help says what.
  if (text.empty() && spec.is_list() && spec.help.find("Empty:") == std::string_view::npos) {
    return {core::StatusCode::kInvalidArgument,
            fmt::format("{} is empty: it takes {}, or leave it out", spec.flag, spec.value)};
  }
  app::Settings scratch;
  const auto status = spec.assign(scratch, spec.key, text);
  return status.ok() ? status : status.with_context(spec.flag);
}

// Sets a key of a family for each "KEY=VALUE".
core::Status set_each(app::EffectiveSettings& settings, const std::vector<std::string>& given, std::string_view family,
                      const char* flag, std::string_view form) {
  for (const std::string& one : given) {
    const auto equals = one.find('=');
    if (equals == 0 || equals == std::string::npos) {
      return {core::StatusCode::kInvalidArgument, fmt::format("{} must be {}, not '{}'", flag, form, one)};
    }
    const std::string key = fmt::format("{}{}", family, std::string_view(one).substr(0, equals));
    LB_RETURN_IF_ERROR(settings.set(key, std::string_view(one).substr(equals + 1), flag));
  }
  return {};
}

}  // namespace

SettingGroup group_of(std::string_view key) {
  const auto dot = key.find('.');
  if (key == "device" || key == "strict" || key == "emulate") return SettingGroup::kPlacement;
  if (dot == std::string_view::npos) return SettingGroup::kDevice;
  const std::string_view table = key.substr(0, dot);
  if (table == "failover") return SettingGroup::kFailover;
  if (table == "verification") return SettingGroup::kVerification;
  if (table == "cache") return SettingGroup::kCache;
  if (table == "embedding") return SettingGroup::kEmbedding;
  if (table == "server") return SettingGroup::kServer;
  if (table == "property") return SettingGroup::kDevice;
  return SettingGroup::kBackends;
}

void SettingFlags::add_to(Command& app, std::span<const SettingGroup> groups,
                          std::initializer_list<std::string_view> also) {
  for (const app::SettingSpec& spec : app::settings_schema()) {
    const SettingGroup group = group_of(spec.key);
    const bool is_wanted =
        std::ranges::find(also, spec.key) != also.end() || std::ranges::find(groups, group) != groups.end();
    // Some commands have their own option of that name, such as `serve --model`.
    if (spec.flag.empty() || !is_wanted || app.find_option(spec.flag) != nullptr) continue;
    const auto take = [this, &spec](const std::string& text) -> core::Status {
      LB_RETURN_IF_ERROR(check(spec, text));
      given_.push_back({std::string(spec.key), text, std::string(spec.flag)});
      return {};
    };
    Option* option = nullptr;
    if (spec.is_truth()) {
      // --strict, --strict=false, --no-strict, and -q.
      const std::string names =
          spec.letter != 0 ? fmt::format("-{},{}", spec.letter, spec.flag) : std::string(spec.flag);
      option = app.add_flag(names, take, description_of(spec))->negatable();
    } else {
      option = app.add_option(spec.flag, take, description_of(spec))->type_name(std::string(spec.value));
      // A list may also be given item by item.
      if (spec.is_list()) option->repeats(Repeat::kJoined);
      const auto words = spec.known_words();
      // A placement is a list, too.
      option->words({words.begin(), words.end()}, spec.is_list() || spec.value == "PLACEMENT");
    }
    option->group(title_of(group))->main(is_main(spec, group));
    if (is_about_devices(group)) option->brief();
  }
  if (std::ranges::find(groups, SettingGroup::kDevice) != groups.end()) {
    add_texts(app, "--property", properties_, "KEY=VALUE",
              "Passes a property to the vendor unchanged, after all others. May be given several times.")
        ->group(title_of(SettingGroup::kDevice))
        ->main(false);
  }
  if (std::ranges::find(groups, SettingGroup::kBackends) != groups.end()) {
    add_texts(app, "--plugin", plugin_settings_, "NAME.KEY=VALUE",
              "Sets KEY of the plug-in NAME. May be given several times.")
        ->group(title_of(SettingGroup::kBackends))
        ->main(false);
  }
  refuse_empty(add_text(app, "--config", config_file_, "FILE",
                        "Reads this config.toml after the system's and the user's; docs/configuration.md lists its "
                        "keys (default: none).")
                   ->main(false),
               "--config", "give the name of a file");
}

void SettingFlags::add(std::string_view key, std::string_view text, std::string flag) {
  const auto same = std::ranges::find(given_, key, &Given::key);
  if (same == given_.end()) {
    given_.push_back({std::string(key), std::string(text), std::move(flag)});
  } else {
    same->text += fmt::format(",{}", text);
  }
}

bool SettingFlags::has(std::string_view key) const {
  return std::ranges::any_of(given_, [key](const Given& one) { return one.key == key; });
}

core::Result<app::EffectiveSettings> SettingFlags::effective() const {
  app::EffectiveSettings settings;
  LB_RETURN_IF_ERROR(settings.apply_standard(platform::path_from_utf8(config_file_)));
  for (const auto& [key, text, flag] : given_)
    LB_RETURN_IF_ERROR(settings.set(key, text, flag));
  LB_RETURN_IF_ERROR(set_each(settings, properties_, "property.", "--property", "KEY=VALUE"));
  LB_RETURN_IF_ERROR(set_each(settings, plugin_settings_, app::kPluginSettings, "--plugin", "NAME.KEY=VALUE"));
  return settings;
}

}  // namespace latebind::cli
