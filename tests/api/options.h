// Options of the C interface, for tests.
#pragma once

#include <filesystem>

#include "latebind/latebind.hpp"

namespace latebind::test {

// A runtime that knows this OpenVINO library and nothing else but native, which has to be named.
inline Options with_openvino(const std::filesystem::path& library) {
  return {{"openvino.library", library.string()},
          {"device", "openvino"},
          {"onnxruntime.library", "/nonexistent"},
          {"onnxruntime.providers", "none"}};
}

}  // namespace latebind::test
