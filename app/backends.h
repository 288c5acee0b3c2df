// The one place that lists the backends.
#pragma once

#include <string>

#include "core/registry.h"

namespace latebind::app {

// Paths that the program or its user has configured; empty means search.
struct BackendPaths {
  std::string openvino_library{};
  std::string onnxruntime_library{};
  std::string onnxruntime_providers{};  // a list; see backends/onnxruntime/backend.h
  std::string probe_program{};
};

// A registry with every backend of this build, in order of preference. Loads nothing.
[[nodiscard]] core::Registry make_registry(const BackendPaths& paths = {});

// What the hidden commands of the program do when a backend starts it as a child: the line for standard output.
[[nodiscard]] std::string probe_provider(const std::string& runtime_file, const std::string& provider_file);
[[nodiscard]] std::string compile_for_provider(const std::string& job_file);

}  // namespace latebind::app
