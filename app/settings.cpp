#include "app/settings.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

#define TOML_EXCEPTIONS 0
#include <toml++/toml.h>

#include "app/toml_line.h"
#include "core/log.h"
#include "core/platform/environment.h"
#include "core/platform/files/folders.h"
#include "core/platform/files/small_file.h"
#include "core/text/ascii.h"
#include "core/text/quote.h"

namespace latebind::app {
namespace {

using core::Status;
using core::StatusCode;
using core::unknown_word_error;

constexpr std::size_t kFileBytesMax = std::size_t{1} << 20;
constexpr std::size_t kKeyMax = 256;
constexpr std::size_t kTextMax = 4096;
constexpr std::size_t kFamilyTextMax = 65536;
constexpr std::size_t kFamilyMax = 1024;  // the limit of keys set in all families together
constexpr std::string_view kPrefix = "LATEBIND_";
constexpr std::string_view kFromEnvironment = "environment ";
constexpr std::string_view kFileName = "config.toml";

// Converts a value to the text that the setting's parser expects, or std::nullopt for types that it does not take.
// Vendors' properties may have any type.
std::optional<std::string> text_of(const toml::node& node, const SettingSpec& spec) {
  if (const auto* text = node.as_string()) return text->get();
  if (const auto* number = node.as_integer(); number != nullptr && spec.takes_numbers())
    return std::to_string(number->get());
  if (const auto* truth = node.as_boolean(); truth != nullptr && (spec.is_truth() || spec.is_family()))
    return truth->get() ? "true" : "false";
  if (const auto* fraction = node.as_floating_point(); fraction != nullptr && spec.is_family())
    return fmt::format("{}", fraction->get());
  if (const auto* list = node.as_array()) {
    std::string joined;
    for (const toml::node& element : *list) {
      const auto text = element.is_integer() || element.is_string() ? text_of(element, spec) : std::nullopt;
      if (!text) return std::nullopt;
      joined += (joined.empty() ? "" : ",") + *text;
    }
    return joined;
  }
  return std::nullopt;
}

std::string_view kind_of(const toml::node& node) {
  if (node.is_table()) return "a table";
  if (node.is_array()) return "a list with items of the wrong kind";
  if (node.is_integer()) return "a number";
  if (node.is_boolean()) return "true or false";
  if (node.is_floating_point()) return "a fraction";
  return "a date or a time";
}

// The error for a [table] that contains no setting.
Status unknown_section_error(std::string_view given) {
  std::vector<std::string_view> known;
  for (const SettingSpec& spec : settings_schema()) {
    const auto dot = spec.key.find('.');
    if (dot == std::string_view::npos) continue;
    const std::string_view section = spec.key.substr(0, dot);
    if (std::ranges::find(known, section) == known.end()) known.push_back(section);
  }
  return unknown_word_error("section", given, known);
}

Status apply_table(EffectiveSettings& settings, const toml::table& table, const std::string& prefix,
                   const std::string& name) {
  for (const auto& [key, node] : table) {
    const std::string full = prefix + std::string(key.str());
    const std::string origin = fmt::format("{}:{}", name, key.source().begin.line);
    if (const auto* inner = node.as_table()) {
      const std::string below = full + ".";
      const bool leads_somewhere = std::ranges::any_of(settings_schema(), [&](const SettingSpec& spec) {
        return spec.key.starts_with(below) || (spec.is_family() && below.starts_with(spec.key));
      });
      if (leads_somewhere) {
        LB_RETURN_IF_ERROR(apply_table(settings, *inner, below, name));
        continue;
      }
    }
    const SettingSpec* spec = find_setting(full);
    if (spec == nullptr) {
      const bool is_section = node.is_table() && prefix.empty();
      return (is_section ? unknown_section_error(full) : unknown_setting_error(full)).with_context(origin);
    }
    const auto text = text_of(node, *spec);
    if (!text) {
      const bool is_text = !spec->is_truth() && !spec->takes_numbers();
      return Status(StatusCode::kInvalidArgument,
                    fmt::format("{}: {} has a value of the wrong kind, {}: it takes {}{}", origin, full, kind_of(node),
                                spec->value, is_text ? ", between quotes" : ""));
    }
    LB_RETURN_IF_ERROR(settings.set(full, *text, origin));
  }
  return {};
}

// Used instead of a list of keys, which would be too long for a message.
constexpr std::string_view kListed = "`latebind config` lists all settings, and docs/configuration.md explains them";

// Names that other programs use for settings.
constexpr std::pair<std::string_view, std::string_view> kElsewhere[] = {
    {"port", "server.listen"},
    {"host", "server.listen"},
    {"address", "server.listen"},
    {"bind", "server.listen"},
    {"listen_address", "server.listen"},
    {"cache_dir", "cache.folder"},
    {"cache_directory", "cache.folder"},
    {"cache_path", "cache.folder"},
    {"model_name", "server.models"},
    {"model_id", "server.models"},
    {"dtype", "precision"},
    {"num_threads", "threads"},
};

// `name` excludes the prefix of all settings or of a section. Returns null for a name that no other program uses.
const SettingSpec* setting_elsewhere(std::string_view name) {
  const std::string lower = core::ascii_lowered(name);
  const auto* const found =
      std::ranges::find(kElsewhere, std::string_view(lower), [](const auto& one) { return one.first; });
  return found == std::end(kElsewhere) ? nullptr : find_setting(found->second);
}

Status elsewhere_error(std::string_view what, std::string_view given, std::string_view ours, const SettingSpec& spec) {
  return Status(StatusCode::kInvalidArgument, fmt::format("unknown {} {} (did you mean {}, which takes {}?); {}", what,
                                                          core::quoted(given, 64), ours, spec.value, kListed));
}

// Kubernetes gives every container the addresses of the services in its namespace: a service called latebind sets
// LATEBIND_PORT to tcp://10.0.0.1:8080, LATEBIND_SERVICE_HOST, LATEBIND_PORT_8080_TCP_ADDR and others.
bool is_service_link(std::string_view name, std::string_view value) {
  if (name.ends_with("_SERVICE_HOST") || name.find("_SERVICE_PORT") != std::string_view::npos) return true;
  const auto port = name.find("_PORT");
  if (port == std::string_view::npos) return false;
  const std::string_view behind = name.substr(port + std::string_view("_PORT").size());
  return behind.empty()
             ? value.find("://") != std::string_view::npos
             : behind.find("_TCP") != std::string_view::npos || behind.find("_UDP") != std::string_view::npos;
}

// Whether a variable with Latebind's prefix is not a setting. Tests control their fakes with such variables, and the
// Python package and the program find each other, and the library, with them; a shell may export them for all programs.
bool is_reserved_variable(std::string_view name) {
  return name.starts_with("LATEBIND_FAKE_") || name.starts_with("LATEBIND_CONFORMANCE_") ||
         name.starts_with("LATEBIND_TEST_") || name == "LATEBIND_LIBRARY" || name == "LATEBIND_PROGRAM" ||
         name == "LATEBIND_PYTHON";
}

// An unreadable system file is an error, because the administrator relies on it: a daemon must not start without its
// keys.
Status apply_system_file(EffectiveSettings& settings) {
  Status applied = settings.apply_toml(platform::system_config_folder() / kFileName);
  if (applied.ok() || applied.code() == StatusCode::kNotFound) return {};
  if (applied.code() != StatusCode::kPermissionDenied) return applied;
  return Status(applied.code(), fmt::format("{}: make it readable for every user who runs Latebind (only a key file, "
                                            "server.api_key_file, may be private)",
                                            applied.message()));
}

// An unreadable user's file is skipped with a warning: if HOME belongs to another user, as in many containers, its file
// is not meant for this process.
Status apply_users_file(EffectiveSettings& settings) {
  // A privileged process does not read its caller's files.
  if (platform::is_privileged()) return {};
  const auto folder = platform::config_folder();
  if (!folder.ok()) return {};
  const std::filesystem::path file = *folder / kFileName;
  const auto text = platform::read_small_file(file, kFileBytesMax);
  if (text.ok()) return settings.apply_toml_text(*text, platform::path_to_utf8(file));
  switch (text.status().code()) {
    case StatusCode::kNotFound:
      return {};
    case StatusCode::kPermissionDenied:
    case StatusCode::kIo:
      core::log(core::LogLevel::kWarning,
                fmt::format("the user's settings are left out: {}: set HOME or XDG_CONFIG_HOME to a folder of this "
                            "user's own",
                            text.status().message()));
      return {};
    default:
      return text.status();
  }
}

}  // namespace

Status unknown_setting_error(std::string_view key) {
  if (const SettingSpec* const elsewhere = setting_elsewhere(key.substr(key.rfind('.') + 1)))
    return elsewhere_error("setting", key, elsewhere->key, *elsewhere);
  std::vector<std::string> words;
  for (const SettingSpec& spec : settings_schema())
    words.push_back(spec.shown_key());
  const std::vector<std::string_view> known(words.begin(), words.end());
  return unknown_word_error("setting", key, known, kListed);
}

const std::string& EffectiveSettings::text_of(std::string_view key) const {
  if (const auto found = given_.find(key); found != given_.end()) return found->second.text;
  // Never destroyed: code that runs at exit may still use it.
  static const auto& defaults = *new std::map<std::string, std::string, std::less<>>([] {
    std::map<std::string, std::string, std::less<>> texts;
    for (const SettingSpec& spec : settings_schema())
      texts.emplace(spec.key, spec.is_family() ? std::string() : spec.text(Settings(), spec.key));
    return texts;
  }());
  static const auto& nothing = *new std::string();
  const SettingSpec* spec = find_setting(key);
  return spec != nullptr ? defaults.find(spec->key)->second : nothing;
}

const std::string& EffectiveSettings::origin_of(std::string_view key) const {
  static const auto& by_default = *new std::string("default");
  const auto found = given_.find(key);
  return found == given_.end() ? by_default : found->second.origin;
}

std::size_t EffectiveSettings::in_families() const {
  const auto of_plugins = std::ranges::count_if(values_.of_backends,
                                                [](const auto& one) { return one.first.starts_with(kPluginSettings); });
  return values_.properties.size() + static_cast<std::size_t>(of_plugins);
}

std::vector<std::string> EffectiveSettings::keys() const {
  std::vector<std::string> keys;
  for (const SettingSpec& spec : settings_schema()) {
    if (!spec.is_family()) {
      keys.emplace_back(spec.key);
      continue;
    }
    for (auto one = given_.lower_bound(spec.key); one != given_.end() && one->first.starts_with(spec.key); ++one)
      keys.push_back(one->first);
  }
  return keys;
}

Status EffectiveSettings::set(std::string_view key, std::string_view text, std::string origin) {
  const auto refusal = [&](const Status& status) { return origin.empty() ? status : status.with_context(origin); };
  const SettingSpec* spec = find_setting(key);
  if (spec == nullptr) return refusal(unknown_setting_error(key));
  if (key.size() > kKeyMax) {
    return refusal(Status(StatusCode::kInvalidArgument,
                          fmt::format("a key of {} bytes; at most {} are allowed", key.size(), kKeyMax)));
  }
  const std::size_t most = spec->is_family() ? kFamilyTextMax : kTextMax;
  if (text.size() > most || text.find('\0') != std::string_view::npos) {
    return refusal(
        Status(StatusCode::kInvalidArgument, fmt::format("{}: is longer than {} bytes or contains a NUL", key, most)));
  }
  if (spec->is_family() && !is_set(key) && in_families() >= kFamilyMax) {
    return refusal(
        Status(StatusCode::kInvalidArgument,
               fmt::format("{}: there are already {} settings of families, which is the limit", key, kFamilyMax)));
  }
  Settings scratch;
  if (const Status assigned = spec->assign(scratch, key, text); !assigned.ok()) {
    return refusal(assigned.with_context(key));
  }
  Given given{spec->text(scratch, key), std::move(origin)};
  const auto [place, is_new] = given_.try_emplace(std::string(key));
  try {
    LB_RETURN_IF_ERROR(spec->assign(values_, key, text));  // cannot fail, since the same call succeeded above
  } catch (...) {
    if (is_new) given_.erase(place);
    throw;
  }
  place->second = std::move(given);
  return {};
}

Status EffectiveSettings::unset(std::string_view key) {
  const SettingSpec* spec = find_setting(key);
  if (spec == nullptr) return unknown_setting_error(key);
  const auto found = given_.find(key);
  if (found == given_.end()) return {};
  if (const auto of_backend = values_.of_backends.find(key); of_backend != values_.of_backends.end()) {
    values_.of_backends.erase(of_backend);
  } else if (spec->is_family()) {
    values_.properties.erase(std::string(key.substr(spec->key.size())));
  } else {
    LB_RETURN_IF_ERROR(spec->assign(values_, key, spec->text(Settings(), key)));
  }
  given_.erase(found);
  return {};
}

void EffectiveSettings::adopt(EffectiveSettings&& changed) noexcept {
  std::swap(values_, changed.values_);
  std::erase_if(given_, [&](const auto& one) { return !changed.is_set(one.first); });
  while (!changed.given_.empty()) {
    auto node = changed.given_.extract(changed.given_.begin());
    const auto here = given_.find(node.key());
    if (here == given_.end()) {
      given_.insert(std::move(node));
      continue;
    }
    Given& new_one = node.mapped();
    if (here->second.text != new_one.text) here->second.text.swap(new_one.text);
    if (here->second.origin != new_one.origin) here->second.origin.swap(new_one.origin);
  }
}

Status EffectiveSettings::apply(const EffectiveSettings& over) {
  EffectiveSettings changed = *this;
  for (const auto& [key, given] : over.given_)
    LB_RETURN_IF_ERROR(changed.set(key, given.text, given.origin));
  adopt(std::move(changed));
  return {};
}

core::BackendSettingTexts EffectiveSettings::of_backends() const {
  core::BackendSettingTexts texts = values_.of_backends;
  std::erase_if(texts, [&](const auto& one) { return origin_of(one.first).starts_with(kFromEnvironment); });
  return texts;
}

Status EffectiveSettings::apply_toml(const std::filesystem::path& file) {
  LB_ASSIGN_OR_RETURN(const std::string text, platform::read_small_file(file, kFileBytesMax));
  return apply_toml_text(text, platform::path_to_utf8(file));
}

Status EffectiveSettings::apply_toml_text(std::string_view toml_text, const std::string& name) {
  const toml::parse_result parsed = toml::parse(toml_text, name);
  if (!parsed) {
    const toml::parse_error& error = parsed.error();
    // The fault of a text without an end may be found at its line's end, which counts as the next line's begin.
    std::size_t line = error.source().begin.line;
    auto why = unquoted_value(toml_text, line);
    if (!why) why = unclosed_quote(toml_text, line);
    if (!why && line > 1) {
      why = unclosed_quote(toml_text, line - 1);
      if (why) --line;
    }
    return Status(StatusCode::kInvalidArgument,
                  fmt::format("{}:{}: {}", name, line, why.value_or(std::string(error.description()))));
  }
  // All or nothing: one mistake in the file leaves the settings unchanged.
  EffectiveSettings changed = *this;
  LB_RETURN_IF_ERROR(apply_table(changed, parsed.table(), "", name));
  adopt(std::move(changed));
  return {};
}

Status EffectiveSettings::apply_environment() {
  return apply_environment(platform::environment_with_prefix(kPrefix), platform::is_privileged());
}

Status EffectiveSettings::apply_environment(const std::vector<std::pair<std::string, std::string>>& variables,
                                            bool privileged) {
  std::vector<std::string_view> known;
  for (const SettingSpec& spec : settings_schema())
    if (!spec.environment.empty()) known.push_back(spec.environment);
  EffectiveSettings changed = *this;
  for (const auto& [name, value] : variables) {
    if (!name.starts_with(kPrefix) || is_reserved_variable(name) || value.empty()) continue;
    const auto schema = settings_schema();
    const auto spec = std::ranges::find(schema, name, &SettingSpec::environment);
    if (spec == schema.end()) {
      if (is_service_link(name, value)) continue;
      constexpr std::string_view kWhat = "environment variable";
      const SettingSpec* const elsewhere = setting_elsewhere(std::string_view(name).substr(kPrefix.size()));
      return elsewhere != nullptr ? elsewhere_error(kWhat, name, elsewhere->environment, *elsewhere)
                                  : unknown_word_error(kWhat, name, known, kListed);
    }
    if (spec->trusted && privileged) continue;
    LB_RETURN_IF_ERROR(changed.set(spec->key, value, std::string(kFromEnvironment) + name));
  }
  adopt(std::move(changed));
  return {};
}

Status EffectiveSettings::apply_standard(const std::filesystem::path& config_file) {
  EffectiveSettings settings = *this;
  LB_RETURN_IF_ERROR(apply_system_file(settings));
  LB_RETURN_IF_ERROR(apply_users_file(settings));
  if (!config_file.empty()) LB_RETURN_IF_ERROR(settings.apply_toml(config_file));
  LB_RETURN_IF_ERROR(settings.apply_environment());
  adopt(std::move(settings));
  return {};
}

}  // namespace latebind::app
