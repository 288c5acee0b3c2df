// The delegate on a fake OpenVINO library of the test's own, and on nothing else.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <memory>
#include <string>
#include <string_view>

#include "tests/fakes/fake_openvino_library.h"
#include "tests/hosts/executorch/support.h"

namespace latebind::test {

// y = x + 1, for x with two numbers.
inline constexpr std::string_view kModel = "input x f32 2\noutput y plus-one 0\n";

class DelegateTest : public ::testing::Test {
 protected:
  void SetUp() override {
    setenv("LATEBIND_OPENVINO_LIBRARY", fake.file().c_str(), 1);
    setenv("LATEBIND_ONNXRUNTIME_LIBRARY", "/nonexistent", 1);
    setenv("LATEBIND_ONNXRUNTIME_PROVIDERS", "none", 1);
    backend = load_delegate();
    ASSERT_NE(backend, nullptr);
    clear_log();
  }

  // A module whose payload is a model of the fake library.
  std::unique_ptr<Module> module_of(std::string_view model, const pte::ProgramSpec& spec,
                                    const std::string& name = "program.pte") const {
    return std::make_unique<Module>(folder.write(spec, fake_ir(model), name), Module::LoadMode::Mmap);
  }

  et::Error set(const char* key, const char* value) const { return option(key, value, nullptr); }
  std::string get(const char* key) const { return option_of(key); }

  FakeOpenvino fake;
  ProgramFolder folder;
  et::BackendInterface* backend = nullptr;
};

}  // namespace latebind::test
