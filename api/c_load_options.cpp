// From the caller's load options to typed ones.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <string>
#include <utility>

#include "api/c_objects.h"
#include "api/c_support.h"
#include "app/settings.h"
#include "core/compile_cache.h"
#include "core/platform/folders.h"

namespace core = latebind::core;
namespace api = latebind::api;
namespace app = latebind::app;

namespace {

constexpr size_t kInputsMax = 4096;

bool is_given(const char* text) {
  return text != nullptr && *text != '\0';
}

// The file's settings for one load. Which libraries are used is the runtime's affair, which is there already.
core::Result<app::Settings> read_config(const char* file) {
  app::EffectiveSettings settings;
  LB_RETURN_IF_ERROR(settings.apply_toml(latebind::platform::path_from_utf8(file)));
  for (const app::SettingSpec& spec : app::settings_schema()) {
    if (!spec.key.starts_with("libraries.") || settings.origin_of(spec.key) == "default") continue;
    return api::misuse(fmt::format("{}: {} cannot be set for one model; set the variable {} instead",
                                   settings.origin_of(spec.key), spec.key, spec.environment));
  }
  return settings.values();
}

core::Status read_input_shapes(const lb_load_options& read, core::CompileOptions& compile) {
  if (read.input_shape_count == 0) return {};
  if (read.input_shapes == nullptr || read.input_shape_count > kInputsMax) {
    return api::misuse(fmt::format("lb_load_options: {} input shapes, and they are {}", read.input_shape_count,
                                   read.input_shapes == nullptr ? "NULL" : "too many"));
  }
  for (size_t i = 0; i < read.input_shape_count; ++i) {
    const lb_shape& given = read.input_shapes[i];
    LB_RETURN_IF_ERROR(api::check_reserved(given.reserved_, "lb_shape", "lb_load_options: input shape", i));
    if (given.rank < 0 || given.rank > LB_RANK_MAX) {
      return api::misuse(
          fmt::format("lb_load_options: input shape {} has rank {}; 0 to {} are possible", i, given.rank, LB_RANK_MAX));
    }
    LB_ASSIGN_OR_RETURN(core::Shape shape, core::Shape::make({given.dims, static_cast<size_t>(given.rank)}));
    if (!shape.is_static()) {
      return api::misuse(fmt::format("lb_load_options: input shape {}, {}, is not static", i, shape.to_string()));
    }
    compile.input_shapes.push_back(shape);
  }
  return {};
}

}  // namespace

namespace latebind::api {

core::Result<TypedLoadOptions> typed(const lb_load_options* options, const core::Registry& registry) {
  LB_ASSIGN_OR_RETURN(const lb_load_options read, read_struct(options, "lb_load_options"));
  std::string device = "auto";
  core::LoadOptions load;
  if (is_given(read.config_file)) {
    LB_ASSIGN_OR_RETURN(const app::Settings settings, read_config(read.config_file));
    device = settings.device;
    load = app::load_options(settings);
  }
  LB_ASSIGN_OR_RETURN(core::Placement placement, core::Placement::parse(text_or(read.device, device), registry));
  const bool precision_given = read.precision != nullptr || is_given(read.config_file);
  if (read.precision != nullptr || !precision_given) {
    LB_ASSIGN_OR_RETURN(const auto precisions, app::parse_precisions(text_or(read.precision, "f32")));
    app::set_precisions(precisions, load);
  }
  if (read.hint != nullptr) {
    LB_ASSIGN_OR_RETURN(load.compile.hint, core::parse_word<core::PerformanceHint>(read.hint));
  }
  if (read.threads != 0) load.compile.threads = read.threads;
  if (read.requests != 0) load.compile.requests = read.requests;
  if (read.strict != 0) load.strict = read.strict > 0;
  if (read.emulate != 0) load.compile.emulate = true;
  constexpr std::uint64_t kMost = std::uint64_t{24} * 3600 * 1000;
  if (read.run_timeout_ms > 0) {
    load.failover.run_timeout = std::chrono::milliseconds(std::min(read.run_timeout_ms, kMost));
  }
  if (read.load_timeout_ms > 0) {
    load.failover.load_timeout = std::chrono::milliseconds(std::min(read.load_timeout_ms, kMost));
  }
  LB_ASSIGN_OR_RETURN(load.cancellation, cancellation_of(read.cancellation));
  if (is_given(read.cache_folder)) {
    load.cache = std::make_shared<core::CompileCache>(platform::path_from_utf8(read.cache_folder));
  }
  for (size_t i = 0; i < read.property_count; ++i) {
    if (read.property_keys == nullptr || read.property_values == nullptr || read.property_keys[i] == nullptr ||
        read.property_values[i] == nullptr) {
      return misuse(fmt::format("lb_load_options: property {} is NULL", i));
    }
    load.compile.properties[read.property_keys[i]] = read.property_values[i];
  }
  LB_RETURN_IF_ERROR(read_input_shapes(read, load.compile));
  return TypedLoadOptions{std::move(placement), std::move(load), precision_given};
}

}  // namespace latebind::api

lb_code lb_load_options_check(const lb_runtime* runtime, const lb_load_options* options) {
  return api::guarded([&]() -> core::Status {
    if (runtime == nullptr) return api::misuse("lb_load_options_check: NULL was given");
    return api::typed(options, runtime->shared->registry).status();
  });
}
