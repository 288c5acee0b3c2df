// The backend on a fake library of its own, for one test; at the end every object must have been freed, in order.
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "backends/openvino/backend.h"
#include "core/backend/backend.h"
#include "core/vendor/vendor_call.h"
#include "tests/fakes/fake_openvino_library.h"

namespace latebind::openvino::test {

using core::given_up_calls;
using core::hung_calls;
using latebind::test::fake_model;
using latebind::test::FakeOpenvino;

inline core::TensorView floats(std::vector<float>& data, const core::Shape& shape) {
  return {.data = data.data(), .type = core::ElementType::kF32, .shape = shape, .strides = {}};
}

inline std::vector<float> values(const core::OutputTensor& output) {
  const auto* data = static_cast<const float*>(output.view().data);
  return {data, data + *output.view().shape.element_count()};
}

constexpr const char* kAddModel = "input a f32 2\ninput b f32 2\noutput sum add\n";
constexpr const char* kDynamicModel = "input a f32 ?,2\noutput copy identity 0\n";

class FakeBackendTest : public testing::Test {
 protected:
  void TearDown() override {
    executables_.clear();
    backend_.reset();
    // Calls that were given up may be on their way back still, and so may threads that nobody waits for.
    const auto patience = std::chrono::steady_clock::now() + std::chrono::seconds(30);
    while (given_up_calls() != 0 || (fake_.alive() != 0 && std::chrono::steady_clock::now() < patience)) {
      fake_.script("");
      std::this_thread::yield();
    }
    EXPECT_EQ(fake_.defects(), "");
    EXPECT_EQ(fake_.alive(), 0) << "cores " << fake_.alive("core") << ", models " << fake_.alive("model")
                                << ", compiled models " << fake_.alive("compiled model") << ", requests "
                                << fake_.alive("request") << ", tensors " << fake_.alive("tensor") << ", ports "
                                << fake_.alive("port") << ", texts " << fake_.alive("text");
  }

  core::Executable* load(std::string_view model, const core::CompileOptions& options = {},
                         const std::string& device = "CPU") {
    auto loaded = backend_->load(fake_model(model), device, options);
    EXPECT_TRUE(loaded.ok()) << loaded.status().to_string();
    if (!loaded.ok()) return nullptr;
    executables_.push_back(*std::move(loaded));
    return executables_.back().get();
  }

  // Runs kAddModel on 1,2 and 10,20.
  static core::Status add(core::Executable& executable, const core::RunOptions& options = {}) {
    std::vector<float> a{1, 2};
    std::vector<float> b{10, 20};
    std::vector<core::OutputTensor> outputs(1);
    const std::vector inputs{floats(a, {2}), floats(b, {2})};
    auto status = executable.execute(inputs, outputs, options);
    if (status.ok()) {
      EXPECT_EQ(values(outputs[0]), (std::vector<float>{11, 22}));
    }
    return status;
  }

  FakeOpenvino fake_;
  std::shared_ptr<core::Backend> backend_ = make_backend({.library_path = fake_.file().string()});
  std::vector<std::unique_ptr<core::Executable>> executables_;
};

}  // namespace latebind::openvino::test
