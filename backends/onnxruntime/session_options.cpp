#include "backends/onnxruntime/session_options.h"

#include <fmt/format.h>

#include "core/platform/system_info.h"
#include "core/text/ascii.h"

namespace latebind::onnxruntime {

using core::Result;
using core::Status;

Concurrency concurrency_of(const core::CompileOptions& options) {
  Concurrency result;
  result.threads = options.threads != 0 ? options.threads : platform::usable_processors();
  if (options.hint == core::PerformanceHint::kLatency) {
    result.requests = options.requests != 0 ? options.requests : 1;
    result.threads_per_run = result.threads;
  } else {
    result.requests = options.requests != 0 ? options.requests : result.threads;
    result.threads_per_run = result.threads > result.requests ? result.threads - result.requests + 1 : 1;
  }
  return result;
}

Status add_entry(const Library& library, abi::SessionOptions* options, const std::string& key,
                 const std::string& value) {
  LB_ORT_RETURN_IF_ERROR(library, library.api.AddSessionConfigEntry(options, key.c_str(), value.c_str()),
                         fmt::format("ONNX Runtime refuses the property {}={}", key, value));
  return {};
}

Result<Owned<abi::SessionOptions>> make_session_options(const Environment& environment, SessionKind kind,
                                                        const core::CompileOptions& options,
                                                        const NamedDimensions& dimensions) {
  LB_RETURN_IF_ERROR(core::check_counts(options));
  const Library& library = environment.library();
  const abi::Api& api = library.api;
  const auto check = [&](abi::Status* failure, const char* what) -> Status {
    if (failure == nullptr) return {};
    return library.error(core::StatusCode::kInternal, fmt::format("ONNX Runtime refuses the option {}", what), failure);
  };

  abi::SessionOptions* raw = nullptr;
  LB_RETURN_IF_ERROR(check(api.CreateSessionOptions(&raw), "to have options"));
  Owned<abi::SessionOptions> result(raw, api.ReleaseSessionOptions);

  const Concurrency concurrency = concurrency_of(options);
  const int threads = kind == SessionKind::kDeclare ? 1 : static_cast<int>(concurrency.threads_per_run);
  LB_RETURN_IF_ERROR(check(api.SetIntraOpNumThreads(raw, threads), "number of threads"));
  LB_RETURN_IF_ERROR(check(api.SetInterOpNumThreads(raw, 1), "number of threads between operators"));
  LB_RETURN_IF_ERROR(check(api.SetSessionExecutionMode(raw, abi::kSequential), "sequential execution"));

  abi::GraphOptimizationLevel level = abi::kEnableAll;
  if (kind == SessionKind::kDeclare || kind == SessionKind::kBlob) level = abi::kDisableAll;
  if (kind == SessionKind::kContext) level = abi::kEnableBasic;
  if (kind == SessionKind::kCompile) level = abi::kEnableExtended;
  LB_RETURN_IF_ERROR(check(api.SetSessionGraphOptimizationLevel(raw, level), "optimisation level"));

  // Memory patterns store a plan for each shape that ever occurred. The arena stays enabled: it only grows to the needs
  // of the largest run, and without it every run would pay for new pages.
  LB_RETURN_IF_ERROR(check(api.DisableMemPattern(raw), "no memory pattern"));

  LB_RETURN_IF_ERROR(add_entry(library, raw, "session.set_denormal_as_zero", "0"));
  if (concurrency.requests > 1) {
    // Spinning threads would take the processors that other requests need.
    LB_RETURN_IF_ERROR(add_entry(library, raw, "session.intra_op.allow_spinning", "0"));
  }
  if (kind == SessionKind::kDeclare || kind == SessionKind::kCompile || kind == SessionKind::kCompileHere) {
    LB_RETURN_IF_ERROR(add_entry(library, raw, "session.disable_prepacking", "1"));
  }
  for (const auto& [name, size] : dimensions) {
    LB_RETURN_IF_ERROR(check(api.AddFreeDimensionOverrideByName(raw, name.c_str(), size), name.c_str()));
  }
  for (const auto& [key, value] : options.properties) {
    LB_RETURN_IF_ERROR(add_entry(library, raw, key, value));
  }
  return result;
}

Status use_plugin(const Environment& environment, const PluginUse& plugin, const core::CompileOptions& compile,
                  core::HostNodes host_nodes, abi::SessionOptions* options) {
  const Library& library = environment.library();
  // ONNX Runtime stores a provider's options under this prefix; a property with such a name comes from the caller.
  const char* const provider = library.plugin.EpDevice_EpName(plugin.device);
  const std::string prefix = "ep." + core::ascii_lowered(provider == nullptr ? "" : provider);
  std::vector<const char*> keys;
  std::vector<const char*> values;
  for (const auto& [key, value] : plugin.options) {
    if (compile.properties.contains(fmt::format("{}.{}", prefix, key))) continue;
    keys.push_back(key.c_str());
    values.push_back(value.c_str());
  }
  LB_ORT_RETURN_IF_ERROR(library,
                         library.plugin.SessionOptionsAppendExecutionProvider_V2(
                             options, environment.env(), &plugin.device, 1, keys.data(), values.data(), keys.size()),
                         fmt::format("ONNX Runtime cannot use the provider of {}", plugin.id));
  if (library.plugin.has_assignment()) {
    return add_entry(library, options, "session.record_ep_graph_assignment_info", "1");
  }
  if (host_nodes == core::HostNodes::kAny) return {};
  return add_entry(library, options, "session.disable_cpu_ep_fallback", "1");
}

}  // namespace latebind::onnxruntime
