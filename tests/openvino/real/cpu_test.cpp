// The backend on the real CPU plugin: what only the vendor's own library can show.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstring>
#include <memory>
#include <numeric>
#include <thread>
#include <utility>

#include "backends/openvino/backend.h"
#include "core/backend/backend.h"
#include "core/backend/questions.h"
#include "tests/openvino/small_ir.h"
#include "tests/support/latch.h"

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
  // The precision in which this CPU computes when asked for bf16; nothing when it refuses.
  bool has_bf16() {
    const auto devices = backend_->devices();
    return devices.ok() && devices->front().metadata.at("Capabilities").find("BF16") != std::string::npos;
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

// Weights whose last bits bf16 loses.
std::shared_ptr<std::vector<float>> third_weights(std::size_t count) {
  auto weights = std::make_shared<std::vector<float>>(count);
  for (std::size_t i = 0; i < count; ++i)
    (*weights)[i] = 1.0F / static_cast<float>(3 + i % 7);
  return weights;
}

core::SharedBytes shared(const std::shared_ptr<std::vector<float>>& weights) {
  return {.owner = weights, .bytes = std::as_bytes(std::span(*weights))};
}

TEST_F(RealCpuTest, ListsTheCpuWithItsFullName) {
  const auto devices = backend_->devices();
  ASSERT_TRUE(devices.ok()) << devices.status().to_string();
  const auto cpu = std::ranges::find(*devices, "CPU", &core::Device::name);
  ASSERT_NE(cpu, devices->end());
  EXPECT_EQ(cpu->kind, core::DeviceKind::kCpu);
  EXPECT_NE(cpu->full_name, "");
  EXPECT_NE(cpu->full_name, "CPU");
  EXPECT_EQ(cpu->runtime_version, *backend_->runtime_version());
  EXPECT_THAT(cpu->metadata.at("Capabilities"), HasSubstr("FP32"));
}

TEST_F(RealCpuTest, AddsStaticTensors) {
  const auto executable = load(test::add_model(ElementType::kF32, {2, 2}));
  ASSERT_NE(executable, nullptr);
  EXPECT_EQ(executable->inputs()[0].name, "a");
  EXPECT_EQ(executable->inputs()[1].name, "b");
  EXPECT_EQ(executable->outputs()[0].name, "out");
  std::vector<float> a{1, 2, 3, 4};
  std::vector<float> b{10, 20, 30, 40};
  std::vector<OutputTensor> outputs(1);
  const std::vector inputs{view(a, {2, 2}), view(b, {2, 2})};
  for (int round = 0; round < 3; ++round) {
    const auto status = executable->execute(inputs, outputs, {});
    ASSERT_TRUE(status.ok()) << status.to_string();
    EXPECT_THAT(floats(outputs[0]), ElementsAre(11 + static_cast<float>(round), 22, 33, 44));
    a[0] += 1;
  }
  EXPECT_EQ(executable->active().precision, Precision::kF32);
  EXPECT_NE(executable->active().device_full_name, "");
}

TEST_F(RealCpuTest, EveryRankFromZeroToEight) {
  for (std::size_t rank = 0; rank <= core::kRankMax; ++rank) {
    for (const std::int64_t declared : {std::int64_t{2}, kDynamic}) {
      const std::vector<std::int64_t> dims(rank, declared);
      const std::vector<std::int64_t> given(rank, 2);
      const Shape shape = *Shape::make(given);
      const auto executable = load(test::add_model(ElementType::kF32, *Shape::make(dims)));
      ASSERT_NE(executable, nullptr) << rank;
      std::vector<float> a(std::size_t{1} << rank);
      std::iota(a.begin(), a.end(), 1.0F);
      std::vector<OutputTensor> outputs(1);
      const auto status = executable->execute(std::vector{view(a, shape), view(a, shape)}, outputs, {});
      ASSERT_TRUE(status.ok()) << rank << ": " << status.to_string();
      EXPECT_EQ(outputs[0].view().shape, shape);
      for (std::size_t i = 0; i < a.size(); ++i)
        ASSERT_EQ(floats(outputs[0])[i], 2 * a[i]) << rank;
    }
  }
}

TEST_F(RealCpuTest, NineDimensionsAreRefusedByName) {
  const std::vector<std::int64_t> nine(9, 1);
  const auto layers =
      "<layer id=\"0\" name=\"deep\" type=\"Parameter\" version=\"opset1\"><data shape=\"1,1,1,1,1,1,1,1,1\" "
      "element_type=\"f32\"/><output><port id=\"0\" precision=\"FP32\" names=\"deep\">" +
      [] {
        std::string dims;
        for (int i = 0; i < 9; ++i)
          dims += "<dim>1</dim>";
        return dims;
      }();
  const std::string model = std::string(layers) +
                            "</port></output></layer><layer id=\"1\" name=\"r\" type=\"Result\" version=\"opset1\">"
                            "<input><port id=\"0\" precision=\"FP32\"><dim>1</dim><dim>1</dim><dim>1</dim><dim>1</dim>"
                            "<dim>1</dim><dim>1</dim><dim>1</dim><dim>1</dim><dim>1</dim></port></input></layer>";
  const auto status = backend_->load(test::ir_model("deep", model, test::edge(0, 0, 1, 0)), "CPU", {}).status();
  EXPECT_EQ(status.code(), StatusCode::kUnsupported) << status.to_string();
  EXPECT_THAT(status.to_string(), HasSubstr("9 dimensions"));
}

TEST_F(RealCpuTest, DynamicOutputsHaveTheirTrueShapeEachTime) {
  const auto executable = load(test::non_zero_model({2, 3}));
  ASSERT_NE(executable, nullptr);
  std::vector<OutputTensor> outputs(1);
  for (const int count : {6, 1, 0, 4}) {
    std::vector<float> a(6, 0.0F);
    std::fill_n(a.begin(), count, 1.0F);
    const auto status = executable->execute(std::vector{view(a, {2, 3})}, outputs, {});
    ASSERT_TRUE(status.ok()) << status.to_string();
    EXPECT_EQ(outputs[0].view().shape, (Shape{2, count}));
    EXPECT_EQ(outputs[0].view().type, ElementType::kI64);
  }
}

TEST_F(RealCpuTest, EmptyInputsGiveEmptyOutputs) {
  const auto executable = load(test::add_model(ElementType::kF32, {kDynamic, 3}));
  ASSERT_NE(executable, nullptr);
  const TensorView nothing{.data = nullptr, .type = ElementType::kF32, .shape = {0, 3}, .strides = {}};
  std::vector<OutputTensor> outputs(1);
  const auto status = executable->execute(std::vector{nothing, nothing}, outputs, {});
  ASSERT_TRUE(status.ok()) << status.to_string();
  EXPECT_EQ(outputs[0].view().shape, (Shape{0, 3}));
}

TEST_F(RealCpuTest, ComputesInThePrecisionAskedForOrRefuses) {
  const auto weights = third_weights(64 * 64);
  const auto model = test::matmul_model(64, 64, shared(weights));
  std::vector<float> a(64, 1.0F / 3);
  const auto run = [&](core::Executable& executable) {
    std::vector<OutputTensor> outputs(1);
    EXPECT_TRUE(executable.execute(std::vector{view(a, {1, 64})}, outputs, {}).ok());
    return floats(outputs[0]);
  };
  double exact = 0;
  for (int i = 0; i < 64; ++i)
    exact += double{a[0]} * double{(*weights)[static_cast<std::size_t>(i) * 64]};
  const auto f32 = load(model);
  ASSERT_NE(f32, nullptr);
  EXPECT_NEAR(run(*f32)[0], exact, 1e-5);

  const auto bf16 = backend_->load(model, "CPU", {.precision = Precision::kBF16});
  if (has_bf16()) {
    ASSERT_TRUE(bf16.ok()) << bf16.status().to_string();
    EXPECT_EQ((*bf16)->active().precision, Precision::kBF16);
    EXPECT_NE(run(**bf16), run(*f32));
  } else {
    EXPECT_EQ(bf16.status().code(), StatusCode::kUnsupported);
  }
  const auto f16 = backend_->load(model, "CPU", {.precision = Precision::kF16});
  EXPECT_TRUE(f16.ok() || f16.status().code() == StatusCode::kUnsupported) << f16.status().to_string();
}

TEST_F(RealCpuTest, BlobsKeepTheirPrecisionAndTheirBytes) {
  const auto weights = third_weights(64 * 64);
  const auto model = test::matmul_model(64, 64, shared(weights));
  std::vector<float> a(64, 1.0F / 3);
  const auto run = [&](core::Executable& executable) {
    std::vector<OutputTensor> outputs(1);
    EXPECT_TRUE(executable.execute(std::vector{view(a, {1, 64})}, outputs, {}).ok());
    return floats(outputs[0]);
  };
  std::vector<Precision> precisions{Precision::kF32};
  if (has_bf16()) precisions = {Precision::kF32, Precision::kBF16, Precision::kF32};
  for (const auto precision : precisions) {
    auto blob = core::compile_blob(*backend_, model, "CPU", {.precision = precision});
    ASSERT_TRUE(blob.ok()) << blob.status().to_string();
    EXPECT_EQ(blob->runtime_version, *backend_->runtime_version());
    // The vendor reads weights where they lie, and some only at the first run.
    auto bytes = std::make_shared<std::vector<std::byte>>(blob->bytes.bytes.begin(), blob->bytes.bytes.end());
    blob->bytes = {.owner = bytes, .bytes = *bytes};
    auto imported = core::load_blob(*backend_, *blob, "CPU", {.precision = precision});
    ASSERT_TRUE(imported.ok()) << imported.status().to_string();
    blob->bytes = {};
    const std::weak_ptr<std::vector<std::byte>> kept = std::exchange(bytes, nullptr);
    EXPECT_FALSE(kept.expired());
    const auto compiled = load(model, {.precision = precision});
    EXPECT_EQ((*imported)->active().precision, precision);
    EXPECT_EQ(run(**imported), run(*compiled));
    EXPECT_EQ(run(**imported), run(*compiled));
    *imported = nullptr;
    EXPECT_TRUE(kept.expired());
  }
}

TEST_F(RealCpuTest, ADamagedBlobIsIncompatible) {
  auto blob = core::compile_blob(*backend_, test::add_model(ElementType::kF32, {2}), "CPU", {});
  ASSERT_TRUE(blob.ok()) << blob.status().to_string();
  const auto good = blob->bytes;
  blob->bytes = core::SharedBytes::from_string("garbage that is no blob");
  EXPECT_EQ(core::load_blob(*backend_, *blob, "CPU", {}).status().code(), StatusCode::kIncompatibleBlob);
  blob->bytes = {good.owner, good.bytes.first(good.bytes.size() / 2)};
  EXPECT_FALSE(core::load_blob(*backend_, *blob, "CPU", {}).ok());
}

TEST_F(RealCpuTest, WeightsStayWhereTheyAre) {
  const auto weights = third_weights(16 * 16);
  const long before = weights.use_count();
  auto executable = load(test::matmul_model(16, 16, shared(weights)));
  ASSERT_NE(executable, nullptr);
  EXPECT_GT(weights.use_count(), before) << "the vendor may read them as long as the executable lives";
  executable.reset();
  EXPECT_EQ(weights.use_count(), before);
}

TEST_F(RealCpuTest, EightThreadsOnOneExecutable) {
  const auto executable = load(test::add_model(ElementType::kF32, {kDynamic}), {.requests = 3});
  ASSERT_NE(executable, nullptr);
  constexpr int kThreads = 8;
  latebind::test::Latch start(kThreads);
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      start.arrive_and_wait();
      std::vector<OutputTensor> outputs(1);
      for (int i = 0; i < 50; ++i) {
        const auto size = static_cast<std::size_t>(1 + (t * 7 + i) % 40);
        std::vector<float> a(size, static_cast<float>(t));
        std::vector<float> b(size, static_cast<float>(i));
        const Shape shape{static_cast<std::int64_t>(size)};
        core::RunOptions options;
        if (i % 3 == 0) options.deadline = std::chrono::steady_clock::now() + std::chrono::minutes(1);
        const auto status = executable->execute(std::vector{view(a, shape), view(b, shape)}, outputs, options);
        ASSERT_TRUE(status.ok()) << status.to_string();
        ASSERT_EQ(floats(outputs[0]), std::vector<float>(size, static_cast<float>(t + i)));
      }
    });
  }
  for (auto& thread : threads)
    thread.join();
}

TEST_F(RealCpuTest, ThroughputRunsAStreamForEachThread) {
  const auto executable =
      load(test::add_model(ElementType::kF32, {4}), {.hint = core::PerformanceHint::kThroughput, .threads = 2});
  ASSERT_NE(executable, nullptr);
  EXPECT_EQ(executable->active().requests, 2U);
  EXPECT_EQ(executable->active().threads, 2U);
}

TEST_F(RealCpuTest, StaticShapesAreTaken) {
  const auto executable =
      load(test::add_model(ElementType::kF32, {kDynamic, 2}), {.input_shapes = {Shape{3, 2}, Shape{3, 2}}});
  ASSERT_NE(executable, nullptr);
  EXPECT_EQ(executable->inputs()[0].shape, (Shape{3, 2}));
  EXPECT_EQ(executable->outputs()[0].shape, (Shape{3, 2}));
}

TEST_F(RealCpuTest, ARunThatTakesLongerThanItsDeadlineIsGivenUp) {
  // 2,048 × 2,048 on a tall input: some tenths of a second on any machine.
  const auto weights = third_weights(2048 * 2048);
  const auto executable = load(test::matmul_model(2048, 2048, shared(weights)), {.threads = 1, .requests = 1});
  ASSERT_NE(executable, nullptr);
  std::vector<float> a(std::size_t{8192} * 2048, 1.0F);
  std::vector<OutputTensor> outputs(1);
  const std::vector inputs{view(a, {8192, 2048})};
  const auto status = executable->execute(
      inputs, outputs, {.deadline = std::chrono::steady_clock::now() + std::chrono::milliseconds(5)});
  EXPECT_EQ(status.code(), StatusCode::kDeadlineExceeded) << status.to_string();
  ASSERT_TRUE(executable->execute(inputs, outputs, {}).ok());
}

TEST_F(RealCpuTest, GarbageIsAnInvalidModel) {
  core::ModelForm form;
  for (const auto format : {core::ModelFormat::kOnnx, core::ModelFormat::kOpenvinoIr}) {
    for (const std::string& text :
         {std::string("garbage"), std::string(4096, '\0'), std::string("<?xml version=\"1.0\"?><net/>")}) {
      form.format = format;
      form.graph = core::SharedBytes::from_string(text);
      const auto status = backend_->load(core::Model::from_forms("garbage", {form}), "CPU", {}).status();
      EXPECT_EQ(status.code(), StatusCode::kInvalidModel) << status.to_string();
      // What is no ONNX at all is refused before the vendor sees it.
      EXPECT_EQ(status.vendor_text().empty(), format == core::ModelFormat::kOnnx);
    }
  }
}

TEST_F(RealCpuTest, AnUnknownPropertyIsRefusedByTheVendor) {
  const auto status =
      backend_->load(test::add_model(ElementType::kF32, {2}), "CPU", {.properties = {{"NO_SUCH_THING", "1"}}}).status();
  EXPECT_FALSE(status.ok());
  EXPECT_THAT(status.vendor_text(), HasSubstr("NO_SUCH_THING"));
}

TEST_F(RealCpuTest, ADeviceThatIsNotThereIsNotFound) {
  const auto status = backend_->load(test::add_model(ElementType::kF32, {2}), "GPU.7", {}).status();
  EXPECT_EQ(status.code(), StatusCode::kDeviceNotFound);
  EXPECT_THAT(status.to_string(), HasSubstr("CPU"));
}

TEST_F(RealCpuTest, DiesInAnyOrder) {
  auto first = load(test::add_model(ElementType::kF32, {2}));
  auto second = load(test::add_model(ElementType::kF32, {2}));
  backend_.reset();
  first.reset();
  std::vector<float> a{1, 2};
  std::vector<OutputTensor> outputs(1);
  EXPECT_TRUE(second->execute(std::vector{view(a, {2}), view(a, {2})}, outputs, {}).ok());
}

// Every element type that both sides know, through a network that does nothing to it.
class RealElementTypeTest : public RealCpuTest, public testing::WithParamInterface<int> {};

TEST_P(RealElementTypeTest, PassesThroughUnchanged) {
  const auto type = static_cast<ElementType>(GetParam());
  for (const Shape& declared : {Shape{8}, Shape{kDynamic}}) {
    const std::string layers = test::parameter(0, "a", type, declared) + test::result(1, type, declared);
    const auto executable = load(test::ir_model("identity", layers, test::edge(0, 0, 1, 0)));
    ASSERT_NE(executable, nullptr);
    EXPECT_EQ(executable->inputs()[0].type, type);
    EXPECT_EQ(executable->outputs()[0].type, type);
    std::vector<std::byte> data(8 * core::size_of(type));
    // Numbers of 32 bits at most: this device computes whole numbers so, and larger ones are refused.
    const bool wide = type == ElementType::kI64 || type == ElementType::kU64;
    for (std::size_t i = 0; i < data.size(); ++i) {
      const std::size_t value = type == ElementType::kBool ? i % 2 : i % 32;
      data[i] = std::byte(wide && i % 8 >= 4 ? 0 : value);
    }
    const TensorView input{.data = data.data(), .type = type, .shape = {8}, .strides = {}};
    std::vector<OutputTensor> outputs(1);
    const auto status = executable->execute(std::vector{input}, outputs, {});
    ASSERT_TRUE(status.ok()) << status.to_string();
    EXPECT_EQ(std::memcmp(outputs[0].view().data, data.data(), data.size()), 0);
  }
}

INSTANTIATE_TEST_SUITE_P(All, RealElementTypeTest, testing::Range(1, 14), [](const auto& tested) {
  return std::string(core::name_of(static_cast<ElementType>(tested.param)));
});

}  // namespace
}  // namespace latebind::openvino
