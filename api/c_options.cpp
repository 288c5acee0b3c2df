// Options of the C interface: the settings table, as texts by key.
#include <fmt/format.h>

#include <memory>
#include <string>
#include <utility>

#include "api/c_objects.h"
#include "api/c_support.h"
#include "app/runtime.h"
#include "app/settings.h"
#include "core/platform/files/folders.h"

namespace core = latebind::core;
namespace api = latebind::api;
namespace app = latebind::app;

namespace {

core::Status write_info(const app::SettingSpec& spec, lb_option_info* out) {
  // Every string here is a literal or kept forever.
  lb_option_info value{};
  value.key = spec.key.data();
  value.value = spec.value.data();
  value.default_text = app::EffectiveSettings().text_of(spec.key).c_str();
  value.help = spec.help.data();
  value.environment = spec.environment.data();
  value.flag = spec.flag.data();
  value.of_model = spec.of_model ? 1 : 0;
  return api::write_struct(value, out, "lb_option_info");
}

template <class Read>
lb_code change(lb_options* options, const char* function, Read&& read) noexcept {
  return api::guarded([&]() -> core::Status {
    if (options == nullptr) return api::misuse(std::string(function) + ": NULL was given");
    return std::forward<Read>(read)(options->settings);
  });
}

}  // namespace

namespace latebind::api {

core::Result<app::EffectiveSettings> settings_over(const lb_runtime& runtime, const lb_options* options) {
  app::EffectiveSettings settings = runtime.shared->settings;
  if (options != nullptr) {
    for (const auto& [key, text] : options->settings.of_backends()) {
      if (settings.text_of(key) == text) continue;
      const std::string& origin = options->settings.origin_of(key);
      const std::string_view variable = app::find_setting(key)->environment;
      return misuse(fmt::format(
          "{}{}{} belongs to the runtime and cannot be set for one model; {}give it to lb_runtime_create", origin,
          origin.empty() ? "" : ": ", key, variable.empty() ? "" : fmt::format("set the variable {}, or ", variable)));
    }
    LB_RETURN_IF_ERROR(settings.apply(options->settings));
  }
  return settings;
}

core::Result<app::LoadRequest> load_request(const lb_runtime& runtime, const lb_options* options, const Call& call) {
  LB_ASSIGN_OR_RETURN(const auto settings, settings_over(runtime, options));
  // A host does not get cache files that it did not ask for.
  LB_ASSIGN_OR_RETURN(auto request, app::load_request(settings, runtime.shared->registry, {.cache = false}));
  request.load.deadline = call.limits.deadline;
  request.load.cancellation = call.limits.cancellation;
  return request;
}

}  // namespace latebind::api

lb_code lb_options_create(lb_options** options) {
  return api::guarded([&]() -> core::Status {
    if (options == nullptr) return api::misuse("lb_options_create: the pointer to the options is NULL");
    *options = nullptr;
    *options = new lb_options();
    return {};
  });
}

void lb_options_destroy(lb_options* options) {
  delete options;
}

lb_code lb_options_set(lb_options* options, const char* key, const char* text) {
  return change(options, "lb_options_set", [&](app::EffectiveSettings& settings) -> core::Status {
    if (key == nullptr) return api::misuse("lb_options_set: the key is NULL");
    return text != nullptr ? settings.set(key, text, "") : settings.unset(key);
  });
}

lb_code lb_options_read_file(lb_options* options, const char* file) {
  return change(options, "lb_options_read_file", [&](app::EffectiveSettings& settings) -> core::Status {
    if (file == nullptr) return api::misuse("lb_options_read_file: the file is NULL");
    return settings.apply_toml(latebind::platform::path_from_utf8(file));
  });
}

lb_code lb_options_read_environment(lb_options* options) {
  return change(options, "lb_options_read_environment",
                [](app::EffectiveSettings& settings) { return settings.apply_environment(); });
}

lb_code lb_options_read_standard(lb_options* options, const char* file) {
  return change(options, "lb_options_read_standard", [&](app::EffectiveSettings& settings) {
    return settings.apply_standard(latebind::platform::path_from_utf8(api::text_or(file, "")));
  });
}

lb_code lb_options_apply(lb_options* options, const lb_options* over) {
  return change(options, "lb_options_apply", [&](app::EffectiveSettings& settings) -> core::Status {
    if (over == nullptr) return api::misuse("lb_options_apply: NULL was given");
    return settings.apply(over->settings);
  });
}

lb_code lb_options_get(const lb_options* options, const char* key, lb_option_value* value) {
  return api::guarded([&]() -> core::Status {
    if (options == nullptr || key == nullptr) return api::misuse("lb_options_get: NULL was given");
    if (app::find_setting_or_family(key) == nullptr) return app::unknown_setting_error(key);
    lb_option_value read{};
    read.is_set = options->settings.is_set(key) ? 1 : 0;
    read.text = options->settings.text_of(key).c_str();
    read.origin = options->settings.origin_of(key).c_str();
    return api::write_struct(read, value, "lb_option_value");
  });
}

size_t lb_option_count(void) {
  size_t count = 0;
  (void)api::guarded([&]() -> core::Status {
    count = app::settings_schema().size();
    return {};
  });
  return count;
}

lb_code lb_option_at(size_t index, lb_option_info* info) {
  return api::guarded([&]() -> core::Status {
    const auto schema = app::settings_schema();
    if (index >= schema.size()) return api::misuse("lb_option_at: no option of this index");
    return write_info(schema[index], info);
  });
}

lb_code lb_option_find(const char* key, lb_option_info* info) {
  return api::guarded([&]() -> core::Status {
    if (key == nullptr) return api::misuse("lb_option_find: NULL was given");
    const app::SettingSpec* spec = app::find_setting_or_family(key);
    return spec != nullptr ? write_info(*spec, info) : app::unknown_setting_error(key);
  });
}

lb_code lb_runtime_check_options(const lb_runtime* runtime, const lb_options* options) {
  return api::guarded([&]() -> core::Status {
    if (runtime == nullptr) return api::misuse("lb_runtime_check_options: NULL was given");
    LB_RETURN_IF_ERROR(api::check_made_here(runtime->shared->made, "runtime"));
    LB_ASSIGN_OR_RETURN(const auto settings, api::settings_over(*runtime, options));
    return app::placement_of(settings, runtime->shared->registry).status();
  });
}
