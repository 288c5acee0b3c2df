#include "app/runtime.h"

#include <memory>
#include <string>
#include <utility>

#include "app/backends.h"
#include "app/plugins.h"
#include "core/cache/compile_cache.h"

namespace latebind::app {
namespace {

core::LoadOptions load_options(const Settings& settings, const JobDefaults& defaults) {
  core::LoadOptions load;
  load.strict = settings.strict;
  load.compile.hint = settings.hint.value_or(defaults.hint);
  load.compile.threads = settings.threads;
  load.compile.requests = settings.requests;
  load.compile.emulate = settings.emulate;
  load.compile.input_shapes = settings.input_shapes;
  load.compile.properties = {settings.properties.begin(), settings.properties.end()};
  load.failover.breaker.backoff_first = settings.backoff_first;
  load.failover.breaker.backoff_most = settings.backoff_most;
  if (settings.run_timeout.count() >= 0) load.failover.run_timeout = settings.run_timeout;
  if (settings.load_timeout.count() >= 0) load.failover.load_timeout = settings.load_timeout;
  load.failover.warm_standby = settings.warm_standby;
  load.verification.enabled = settings.verify;
  load.verification.against = settings.verify_against;
  if (settings.verify) load.verification.disagreements = std::make_shared<core::Disagreements>();
  load.shapes = settings.shapes;
  load.static_lengths.lengths = settings.static_lengths;
  load.static_lengths.rows = settings.static_batch;
  load.static_lengths.preload = settings.preload;
  if (settings.cache.value_or(defaults.cache || !settings.cache_folder.empty())) {
    if (const auto folder = compile_cache_folder(settings); folder.ok()) {
      load.cache = std::make_shared<core::CompileCache>(*folder, settings.cache_bytes_max);
    }
  }
  return load;
}

}  // namespace

void LoadRequest::set_precisions(const std::vector<core::Precision>& precisions) {
  load.compile.precision = precisions.front();
  load.other_precisions.assign(precisions.begin() + 1, precisions.end());
}

core::Result<core::Placement> placement_of(const EffectiveSettings& settings, const core::Registry& registry) {
  auto placement = core::Placement::parse(settings.values().device, registry);
  if (placement.ok()) return placement;
  const core::Status status = with_nameless_plugins(placement.status(), settings.of_backends());
  const std::string& origin = settings.origin_of("device");
  return origin.empty() ? status : status.with_context(origin);
}

core::Result<LoadRequest> load_request(const EffectiveSettings& settings, const core::Registry& registry,
                                       const JobDefaults& defaults) {
  LB_ASSIGN_OR_RETURN(core::Placement placement, placement_of(settings, registry));
  LoadRequest request{.placement = std::move(placement),
                      .load = load_options(settings.values(), defaults),
                      .precision_given = settings.is_set("precision"),
                      .batch_tokens = settings.values().batch_tokens,
                      .max_tokens = settings.values().max_tokens,
                      .onnx_file = settings.values().onnx_file};
  request.set_precisions(settings.values().precisions);
  return request;
}

core::Result<Runtime> Runtime::make(const EffectiveSettings& settings, const JobDefaults& defaults) {
  return make(settings, make_registry(settings.of_backends()), defaults);
}

core::Result<Runtime> Runtime::make(const EffectiveSettings& settings, core::Registry registry,
                                    const JobDefaults& defaults) {
  Runtime runtime;
  runtime.settings = settings.values();
  runtime.effective = settings;
  runtime.registry = std::move(registry);
  LB_ASSIGN_OR_RETURN(static_cast<LoadRequest&>(runtime), load_request(settings, runtime.registry, defaults));
  return runtime;
}

}  // namespace latebind::app
