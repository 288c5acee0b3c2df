#include "cli/terminal/setting_flags.h"

#include <fmt/format.h>

#include <algorithm>

#include "cli/terminal/parser.h"
#include "core/platform/files/folders.h"

namespace latebind::cli {
namespace {

const char* title_of(SettingGroup group) {
  switch (group) {
    case SettingGroup::kBackends:
      return "Vendor libraries";
    case SettingGroup::kPlacement:
    case SettingGroup::kDevice:
      return "Device";
    case SettingGroup::kFailover:
      return "Failover";
    case SettingGroup::kVerification:
      return "Verification";
    case SettingGroup::kCache:
      return "Cache of compiled models";
    case SettingGroup::kEmbedding:
      return "Embedding";
    case SettingGroup::kServer:
      return "Daemon";
  }
  return "";
}

// "Devices to try … (default auto; LATEBIND_DEVICE)"
std::string description_of(const app::SettingSpec& spec) {
  const std::string value = spec.text(app::Settings{}, spec.key);
  return fmt::format("{} (default {}; {})", spec.help, value.empty() ? "empty" : value, spec.environment);
}

void check(const app::SettingSpec& spec, const std::string& text) {
  app::Settings scratch;
  if (const auto status = spec.assign(scratch, spec.key, text); !status.ok()) {
    // The parser itself names the flag only where the value is optional.
    const bool named = spec.is_truth();
    throw CLI::ValidationError(fmt::format("{}{}{}", named ? "" : spec.flag, named ? "" : ": ", status.message()));
  }
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

void SettingFlags::add_to(CLI::App& app, std::span<const SettingGroup> groups,
                          std::initializer_list<std::string_view> also) {
  for (const app::SettingSpec& spec : app::settings_schema()) {
    const SettingGroup group = group_of(spec.key);
    const bool is_wanted =
        std::ranges::find(also, spec.key) != also.end() || std::ranges::find(groups, group) != groups.end();
    // Some commands have their own option of that name, such as `serve --model`.
    if (spec.flag.empty() || !is_wanted || app.get_option_no_throw(std::string(spec.flag)) != nullptr) continue;
    const auto take = [this, &spec](const std::string& text) {
      check(spec, text);
      given_.push_back({std::string(spec.key), text, std::string(spec.flag)});
    };
    CLI::Option* option = nullptr;
    if (spec.is_truth()) {
      // --strict, --strict=false and --no-strict; -q.
      const std::string name(spec.flag);
      const std::string letter = spec.letter != 0 ? fmt::format("-{},", spec.letter) : "";
      option = app.add_flag(fmt::format("{0}{1},!--no-{2}", letter, name, name.substr(2)))
                   ->multi_option_policy(CLI::MultiOptionPolicy::TakeLast)
                   ->description(description_of(spec));
      option->each(take);
    } else {
      option = app.add_option_function<std::string>(std::string(spec.flag), take, description_of(spec))
                   ->type_name(std::string(spec.value));
      // A list may also come one by one.
      if (spec.is_list()) option->join(',');
    }
    option->group(title_of(group));
  }
  if (std::ranges::find(groups, SettingGroup::kDevice) != groups.end()) {
    add_texts(app, "--property", properties_, "KEY=VALUE",
              "Passes a property to the vendor as it is, after all others. May be given several times.")
        ->group(title_of(SettingGroup::kDevice));
  }
  refuse_empty(add_text(app, "--config", config_file_, "FILE",
                        "Reads this config.toml after the system's and the user's; docs/configuration.md has its keys "
                        "(default: none)."),
               "--config", "give the name of a file");
}

bool SettingFlags::has(std::string_view key) const {
  return std::ranges::any_of(given_, [key](const Given& one) { return one.key == key; });
}

core::Result<app::EffectiveSettings> SettingFlags::effective() const {
  app::EffectiveSettings settings;
  LB_RETURN_IF_ERROR(settings.apply_standard(platform::path_from_utf8(config_file_)));
  for (const auto& [key, text, flag] : given_)
    LB_RETURN_IF_ERROR(settings.set(key, text, flag));
  for (const std::string& property : properties_) {
    const auto equals = property.find('=');
    if (equals == 0 || equals == std::string::npos) {
      return core::Status(core::StatusCode::kInvalidArgument,
                          fmt::format("--property must be KEY=VALUE, not '{}'", property));
    }
    const std::string key = "property." + property.substr(0, equals);
    LB_RETURN_IF_ERROR(settings.set(key, std::string_view(property).substr(equals + 1), "--property"));
  }
  return settings;
}

}  // namespace latebind::cli
