#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <latch>
#include <numeric>
#include <thread>

#include "backends/openvino/backend.h"
#include "core/backend.h"
#include "tests/openvino/small_ir.h"

namespace latebind::openvino {
namespace {

using core::CompileOptions;
using core::ElementType;
using core::kDynamic;
using core::OutputTensor;
using core::Precision;
using core::Shape;
using core::StatusCode;
using core::TensorView;
using testing::ElementsAre;
using testing::HasSubstr;

class RealCpuTest : public testing::Test {
 protected:
  void SetUp() override {
    const auto status = backend_->available();
    ASSERT_TRUE(status.ok()) << "run scripts/setup first: " << status.to_string();
  }

  std::unique_ptr<core::Executable> load(const core::Model& model, const CompileOptions& options = {}) {
    auto loaded = backend_->load(model, "CPU", options);
    EXPECT_TRUE(loaded.ok()) << loaded.status().to_string();
    return loaded.ok() ? *std::move(loaded) : nullptr;
  }

  std::shared_ptr<core::Backend> backend_ = make_backend();
};

TensorView view(std::vector<float>& data, const Shape& shape) {
  return {.data = data.data(), .type = ElementType::kF32, .shape = shape, .strides = {}};
}

std::vector<float> floats(const OutputTensor& output) {
  const auto* data = static_cast<const float*>(output.view().data);
  return {data, data + *output.view().shape.element_count()};
}

TEST_F(RealCpuTest, ListsTheCpuWithItsFullName) {
  const auto devices = backend_->devices();
  ASSERT_TRUE(devices.ok()) << devices.status().to_string();
  const auto cpu = std::ranges::find(*devices, "CPU", &core::Device::name);
  ASSERT_NE(cpu, devices->end());
  EXPECT_EQ(cpu->kind, core::DeviceKind::kCpu);
  EXPECT_NE(cpu->full_name, "");
  EXPECT_NE(cpu->full_name, "CPU");
  EXPECT_THAT(cpu->metadata.at("Capabilities"), HasSubstr("FP32"));
}

TEST_F(RealCpuTest, AddsStaticTensors) {
  const auto executable = load(test::add_model(ElementType::kF32, {2, 2}));
  ASSERT_NE(executable, nullptr);
  EXPECT_EQ(executable->inputs()[0].name, "a");
  EXPECT_EQ(executable->outputs()[0].name, "out");
  std::vector<float> a{1, 2, 3, 4};
  std::vector<float> b{10, 20, 30, 40};
  std::vector<OutputTensor> outputs(1);
  const std::vector inputs{view(a, {2, 2}), view(b, {2, 2})};
  for (int round = 0; round < 3; ++round) {
    const auto status = executable->execute(inputs, outputs, {});
    ASSERT_TRUE(status.ok()) << status.to_string();
    EXPECT_THAT(floats(outputs[0]), ElementsAre(11 + round, 22, 33, 44));
    a[0] += 1;
  }
  EXPECT_EQ(executable->active().precision, Precision::kF32);
  EXPECT_NE(executable->active().device_full_name, "");
}

}  // namespace
}  // namespace latebind::openvino
