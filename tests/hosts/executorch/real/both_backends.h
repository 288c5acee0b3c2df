// The delegate and ExecuTorch's own OpenVINO backend in one process, on the one real OpenVINO.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>

#include "tests/hosts/executorch/real/minilm.h"
#include "tests/hosts/executorch/real/raw.h"

namespace latebind::test {

class BothBackendsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    const std::string file = openvino_file();
    setenv("LATEBIND_OPENVINO_LIBRARY", file.c_str(), 1);
    setenv("LATEBIND_ONNXRUNTIME_LIBRARY", "/nonexistent", 1);
    setenv("OPENVINO_LIB_PATH", file.c_str(), 1);
    auto opened = openvino::open_library(file);
    ASSERT_TRUE(opened.ok()) << opened.status().to_string();
    library = *opened;
    ASSERT_NE(load_stock(), nullptr);
    ASSERT_NE(load_delegate(), nullptr);
  }

  // What OpenVINO exports of an ONNX model that it compiled for the CPU in f32.
  [[nodiscard]] std::string blob_of(const std::string& onnx_file) const {
    const std::string exported = (folder.path() / "blob").string();
    RawOpenvino(*library, onnx_file, "f32").export_to(exported);
    return content_of(exported);
  }
  [[nodiscard]] static std::string content_of(const std::string& file) {
    std::ifstream in(file, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }

  std::shared_ptr<const openvino::Library> library;
  ProgramFolder folder;
};

}  // namespace latebind::test
