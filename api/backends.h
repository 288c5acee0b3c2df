// The one place that lists the backends.
#pragma once

#include <string>

#include "core/registry.h"

namespace latebind::api {

// Paths that the program or its user has configured; empty means search.
struct BackendPaths {
  std::string openvino_library{};
  std::string onnxruntime_library{};
};

// A registry with every backend of this build, in order of preference. Loads nothing.
[[nodiscard]] core::Registry make_registry(const BackendPaths& paths = {});

}  // namespace latebind::api
