// Options of the C interface, for tests.
#pragma once

#include <filesystem>

#include "latebind/latebind.hpp"

namespace latebind::test {

// A runtime that knows this OpenVINO library and nothing else.
inline Options with_openvino(const std::filesystem::path& library) {
  return {{"openvino.library", library.string()},
          {"onnxruntime.library", "/nonexistent"},
          {"onnxruntime.providers", "none"}};
}

}  // namespace latebind::test
