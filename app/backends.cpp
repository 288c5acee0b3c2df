#include "app/backends.h"

#include "backends/onnxruntime/backend.h"
#include "backends/openvino/backend.h"
#include "core/log.h"

namespace latebind::app {
namespace {

void add(core::Registry& registry, std::shared_ptr<core::Backend> backend) {
  // Refused only for a name that is there already, which would be a defect of the list below.
  if (const auto status = registry.add(std::move(backend)); !status.ok()) {
    core::log(core::LogLevel::kError, status.to_string());
  }
}

}  // namespace

core::Registry make_registry(const BackendPaths& paths) {
  core::Registry registry;
  add(registry, openvino::make_backend({.library_path = paths.openvino_library}));
  add(registry, onnxruntime::make_backend({.library_path = paths.onnxruntime_library,
                                           .provider_paths = onnxruntime::provider_paths(paths.onnxruntime_providers),
                                           .worker_program = paths.probe_program}));
  return registry;
}

std::string probe_provider(const std::string& runtime_file, const std::string& provider_file) {
  return onnxruntime::probe_provider(runtime_file, provider_file);
}

std::string compile_for_provider(const std::string& job_file) {
  return onnxruntime::run_compile_job(job_file);
}

}  // namespace latebind::app
