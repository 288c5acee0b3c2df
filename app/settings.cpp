#include "app/settings.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#define TOML_EXCEPTIONS 0
#include <toml++/toml.h>

#include "core/platform/environment.h"
#include "core/platform/folders.h"
#include "core/platform/mapped_file.h"

namespace latebind::app {
namespace {

using core::parse_integer;
using core::parse_word;
using core::Result;
using core::Status;
using core::StatusCode;
using core::unknown_word_error;
using core::word_of;

constexpr std::size_t kFileBytesMax = std::size_t{1} << 20;
constexpr std::string_view kPrefix = "LATEBIND_";
constexpr std::string_view kFromEnvironment = "environment ";
constexpr std::string_view kFileName = "config.toml";

// A value as the schema's parsers want it; nothing for kinds that no setting has.
std::optional<std::string> text_of(const toml::node& node) {
  if (const auto* text = node.as_string()) return text->get();
  if (const auto* number = node.as_integer()) return std::to_string(number->get());
  if (const auto* truth = node.as_boolean()) return truth->get() ? "true" : "false";
  if (const auto* list = node.as_array()) {
    std::string joined;
    for (const toml::node& element : *list) {
      const auto* number = element.as_integer();
      if (number == nullptr) return std::nullopt;
      joined += (joined.empty() ? "" : ",") + std::to_string(number->get());
    }
    return joined;
  }
  return std::nullopt;
}

std::vector<std::string_view> known_keys() {
  std::vector<std::string_view> keys;
  for (const SettingSpec& spec : settings_schema())
    keys.push_back(spec.key);
  return keys;
}

Status apply_table(EffectiveSettings& settings, const toml::table& table, const std::string& prefix,
                   const std::string& name) {
  for (const auto& [key, node] : table) {
    const std::string full = prefix + std::string(key.str());
    const std::string origin = fmt::format("{}:{}", name, key.source().begin.line);
    if (const auto* inner = node.as_table()) {
      const bool leads_somewhere = std::ranges::any_of(
          settings_schema(), [&](const SettingSpec& spec) { return spec.key.starts_with(full + "."); });
      if (leads_somewhere) {
        LB_RETURN_IF_ERROR(apply_table(settings, *inner, full + ".", name));
        continue;
      }
    }
    if (find_setting(full) == nullptr) {
      return unknown_word_error("setting", full, known_keys()).with_context(origin);
    }
    const auto text = text_of(node);
    if (!text) {
      return Status(StatusCode::kInvalidArgument, fmt::format("{}: {} has a value of the wrong kind", origin, full));
    }
    LB_RETURN_IF_ERROR(settings.set(full, *text, origin));
  }
  return {};
}

// Variables of our prefix that are no settings: what tests tell their doubles.
bool is_for_tests(std::string_view name) {
  return name.starts_with("LATEBIND_FAKE_") || name.starts_with("LATEBIND_CONFORMANCE_") ||
         name.starts_with("LATEBIND_TEST_");
}

}  // namespace

std::string EffectiveSettings::origin_of(std::string_view key) const {
  const auto found = origins_.find(key);
  return found == origins_.end() ? "default" : found->second;
}

Status EffectiveSettings::set(std::string_view key, std::string_view text, std::string origin) {
  const SettingSpec* spec = find_setting(key);
  if (spec == nullptr) return unknown_word_error("setting", key, known_keys()).with_context(origin);
  Settings changed = values_;
  if (const Status assigned = spec->assign(changed, text); !assigned.ok()) {
    return assigned.with_context(fmt::format("{}: {}", origin, key));
  }
  values_ = std::move(changed);
  origins_[std::string(key)] = std::move(origin);
  return {};
}

Status EffectiveSettings::apply_toml(const std::filesystem::path& file) {
  LB_ASSIGN_OR_RETURN(const auto mapped, platform::MappedFile::open(file));
  const std::string name = platform::path_to_utf8(file);
  if (mapped.bytes().size() > kFileBytesMax) {
    return Status(StatusCode::kInvalidArgument, fmt::format("{}: {} bytes; a configuration has at most {}", name,
                                                            mapped.bytes().size(), kFileBytesMax));
  }
  return apply_toml_text({reinterpret_cast<const char*>(mapped.bytes().data()), mapped.bytes().size()}, name);
}

Status EffectiveSettings::apply_toml_text(std::string_view toml_text, const std::string& name) {
  const toml::parse_result parsed = toml::parse(toml_text, name);
  if (!parsed) {
    const toml::parse_error& error = parsed.error();
    return Status(StatusCode::kInvalidArgument,
                  fmt::format("{}:{}: {}", name, error.source().begin.line, error.description()));
  }
  // All or nothing: a file with one mistake changes nothing.
  EffectiveSettings changed = *this;
  LB_RETURN_IF_ERROR(apply_table(changed, parsed.table(), "", name));
  *this = std::move(changed);
  return {};
}

Status EffectiveSettings::apply_environment() {
  return apply_environment(platform::environment_with_prefix(kPrefix), platform::is_privileged());
}

Status EffectiveSettings::apply_environment(const std::vector<std::pair<std::string, std::string>>& variables,
                                            bool privileged) {
  std::vector<std::string_view> known;
  for (const SettingSpec& spec : settings_schema())
    known.push_back(spec.environment);
  for (const auto& [name, value] : variables) {
    if (!name.starts_with(kPrefix) || is_for_tests(name) || value.empty()) continue;
    const auto schema = settings_schema();
    const auto spec = std::ranges::find(schema, name, &SettingSpec::environment);
    if (spec == schema.end()) return unknown_word_error("environment variable", name, known);
    if (spec->trusted && privileged) continue;
    LB_RETURN_IF_ERROR(set(spec->key, value, std::string(kFromEnvironment) + name));
  }
  return {};
}

Result<EffectiveSettings> EffectiveSettings::standard(const std::filesystem::path& config_file) {
  EffectiveSettings settings;
  std::vector<std::filesystem::path> files{platform::system_config_folder() / kFileName};
  // In a process with rights that its caller has not, the caller's files are not asked.
  if (!platform::is_privileged()) {
    if (const auto folder = platform::config_folder(); folder.ok()) files.push_back(*folder / kFileName);
  }
  for (const auto& file : files) {
    const Status applied = settings.apply_toml(file);
    if (!applied.ok() && applied.code() != StatusCode::kNotFound) return applied;
  }
  if (!config_file.empty()) LB_RETURN_IF_ERROR(settings.apply_toml(config_file));
  LB_RETURN_IF_ERROR(settings.apply_environment());
  return settings;
}

BackendPaths backend_paths(const EffectiveSettings& settings) {
  const auto unless_from_environment = [&](std::string_view key, const std::string& path) {
    return settings.origin_of(key).starts_with(kFromEnvironment) ? std::string() : path;
  };
  return {
      .openvino_library = unless_from_environment("libraries.openvino", settings.values().openvino_library),
      .onnxruntime_library = unless_from_environment("libraries.onnxruntime", settings.values().onnxruntime_library),
      .onnxruntime_providers =
          unless_from_environment("libraries.onnxruntime_providers", settings.values().onnxruntime_providers),
      .probe_program = unless_from_environment("libraries.probe_program", settings.values().probe_program)};
}

}  // namespace latebind::app
