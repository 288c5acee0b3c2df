// What becomes of the vendor's failures, and that all that was made is released, in the right order.
#include "backends/onnxruntime/backend.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "core/backend/questions.h"
#include "core/log.h"
#include "core/vendor/vendor_call.h"
#include "tests/onnxruntime/fake_library.h"

namespace latebind::onnxruntime {
namespace {

using core::CompileOptions;
using core::ElementType;
using core::OutputTensor;
using core::Shape;
using core::Status;
using core::StatusCode;
using core::TensorView;
using testing::AllOf;
using testing::HasSubstr;

class OnnxruntimeBackendTest : public testing::Test {
 protected:
  OnnxruntimeBackendTest() : backend_(make_backend({.library_path = library_.file().string()})) {}

  void TearDown() override {
    backend_.reset();
    state().run_hangs = false;
    while (core::given_up_calls() != 0)
      std::this_thread::yield();
    EXPECT_EQ(state().alive, 0) << "objects of the vendor's were not released";
    EXPECT_FALSE(state().wrong_order);
  }

  fake::OnnxruntimeState& state() { return library_.state(); }

  static core::Model model() {
    core::ModelForm form;
    form.graph = core::SharedBytes::from_string("anything");
    return core::Model::from_forms("tiny", {form});
  }
  core::Result<std::unique_ptr<core::Executable>> load(const CompileOptions& options = {}) {
    return backend_->load(model(), "CPU", options);
  }
  Status run(core::Executable& executable, const core::RunOptions& options = {}) {
    TensorView view;
    view.data = input_.data();
    view.shape = Shape{3};
    return executable.execute({&view, 1}, {&output_, 1}, options);
  }
  [[nodiscard]] std::vector<float> result() const {
    const auto* data = static_cast<const float*>(output_.view().data);
    return {data, data + 3};
  }

  test::FakeLibrary library_;
  std::shared_ptr<core::Backend> backend_;
  std::vector<float> input_{1, 2, 3};
  OutputTensor output_;
};

TEST_F(OnnxruntimeBackendTest, ListsTheCpuWithWhatItIs) {
  const auto devices = backend_->devices();
  ASSERT_TRUE(devices.ok()) << devices.status().to_string();
  ASSERT_EQ(devices->size(), 1U);
  const core::Device& cpu = devices->front();
  EXPECT_EQ(cpu.id(), "onnxruntime:CPU");
  EXPECT_EQ(cpu.kind, core::DeviceKind::kCpu);
  EXPECT_EQ(cpu.runtime_version, "1.31.1");
  EXPECT_EQ(cpu.metadata.at("AvailableProviders"), "FirstFake,OtherFake");
  EXPECT_EQ(state().telemetry, 0);
}

TEST_F(OnnxruntimeBackendTest, ForwardsTheVendorsWarningsAsOneLine) {
  std::vector<std::string> lines;
  auto keep = [&](core::LogLevel, std::string_view text) { lines.emplace_back(text); };
  core::set_log_sink(core::LogSink::to(keep));
  EXPECT_TRUE(backend_->devices().ok());
  core::set_log_sink({});
  EXPECT_THAT(lines, testing::Contains("ONNX Runtime: the fake warns"));
}

TEST_F(OnnxruntimeBackendTest, WhoIsToldWhatTheVendorSaysMayAskForItsDevices) {
  int told = 0;
  auto ask = [&](core::LogLevel, std::string_view) {
    ++told;
    EXPECT_TRUE(backend_->devices().ok());
  };
  core::set_log_sink(core::LogSink::to(ask));
  EXPECT_TRUE(backend_->devices().ok());
  core::set_log_sink({});
  EXPECT_EQ(told, 1);
}

TEST_F(OnnxruntimeBackendTest, TriesTheEnvironmentAgainAfterAFailure) {
  state().env_fails = true;
  EXPECT_THAT(backend_->devices().status().to_string(), HasSubstr("the fake has no environment today"));
  state().env_fails = false;
  EXPECT_TRUE(backend_->devices().ok());
}

TEST_F(OnnxruntimeBackendTest, ReleasesAllWhenTheProvidersAreNotListed) {
  state().no_providers = true;
  EXPECT_THAT(backend_->devices().status().to_string(), HasSubstr("the fake has no list"));
}

TEST_F(OnnxruntimeBackendTest, RunsInTheCallersMemoryWhereTheShapeIsKnown) {
  for (const bool is_static : {false, true}) {
    state().static_output = is_static;
    const auto executable = load();
    ASSERT_TRUE(executable.ok()) << executable.status().to_string();
    const int before = state().made;
    EXPECT_EQ(run(**executable).to_string(), "ok");
    EXPECT_EQ(result(), (std::vector<float>{2, 3, 4}));
    // Input and output; where the vendor makes the output, it is asked for its shape.
    EXPECT_EQ(state().made - before, is_static ? 2 : 3);
  }
}

TEST_F(OnnxruntimeBackendTest, SaysWhatTheVendorSaysOfAModel) {
  for (const auto& [vendor, ours] : {std::pair{1, StatusCode::kInvalidModel},
                                     {3, StatusCode::kNotFound},
                                     {7, StatusCode::kInvalidModel},
                                     {9, StatusCode::kUnsupported},
                                     {10, StatusCode::kInvalidModel}}) {
    state().session_code = vendor;
    const auto status = load().status();
    EXPECT_EQ(status.code(), ours) << vendor;
    EXPECT_EQ(status.vendor_code(), vendor);
    EXPECT_EQ(status.vendor_text(), "the fake refuses this model");
    EXPECT_THAT(status.to_string(), HasSubstr("tiny"));
  }
}

TEST_F(OnnxruntimeBackendTest, ASystemWithoutThreadsIsNoFaultOfTheModel) {
  state().no_threads = true;
  EXPECT_EQ(load().status().code(), StatusCode::kDeviceFailed);
  state().no_threads = false;
  EXPECT_TRUE(load().ok());
}

TEST_F(OnnxruntimeBackendTest, RefusesMoreThreadsAndRequestsThanAnybodyHas) {
  CompileOptions options;
  options.threads = core::kCountMax + 1;
  EXPECT_EQ(load(options).status().code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(load(options).status().to_string(), HasSubstr("4097 threads"));
  options.threads = 1;
  options.requests = core::kCountMax + 1;
  EXPECT_EQ(load(options).status().code(), StatusCode::kInvalidArgument);
}

TEST_F(OnnxruntimeBackendTest, StaysUsableWhenARunFailsOnce) {
  CompileOptions options;
  options.requests = 1;
  const auto executable = load(options);
  ASSERT_TRUE(executable.ok());
  state().run_failures = 1;
  const auto status = run(**executable);
  EXPECT_EQ(status.code(), StatusCode::kDeviceFailed);
  EXPECT_EQ(status.vendor_text(), "the fake does not run this time");
  EXPECT_EQ(run(**executable).to_string(), "ok");
}

TEST_F(OnnxruntimeBackendTest, KeepsFailingWithoutDrainingItsRequests) {
  CompileOptions options;
  options.requests = 1;
  const auto executable = load(options);
  ASSERT_TRUE(executable.ok());
  state().run_failures = -1;
  state().run_code = 2;
  for (int i = 0; i < 50; ++i)
    EXPECT_EQ(run(**executable).code(), StatusCode::kInvalidArgument);
  state().run_failures = 0;
  EXPECT_EQ(run(**executable).to_string(), "ok");
}

TEST_F(OnnxruntimeBackendTest, RefusesAnOutputThatIsNotWhatWasDeclared) {
  const auto executable = load();
  ASSERT_TRUE(executable.ok());
  state().output_has_wrong_type = true;
  EXPECT_THAT(run(**executable).to_string(), AllOf(HasSubstr("'y'"), HasSubstr("i64"), HasSubstr("f32")));
  state().output_has_wrong_type = false;
  state().output_is_null = true;
  EXPECT_THAT(run(**executable).to_string(), HasSubstr("'y'"));
  state().output_is_null = false;
  EXPECT_EQ(run(**executable).to_string(), "ok");
}

TEST_F(OnnxruntimeBackendTest, RefusesTypesAndRanksByName) {
  state().input_type = 8;  // strings
  EXPECT_THAT(load().status().to_string(), AllOf(HasSubstr("'x'"), HasSubstr("string")));
  EXPECT_EQ(load().status().code(), StatusCode::kUnsupported);
  state().input_type = 17;
  EXPECT_THAT(load().status().to_string(), HasSubstr("element type 17"));
  state().input_type = 1;
  state().input_rank = 9;
  EXPECT_THAT(load().status().to_string(), AllOf(HasSubstr("'x'"), HasSubstr("9 dimensions")));
}

TEST_F(OnnxruntimeBackendTest, RefusesWhatItCannotHonour) {
  CompileOptions options;
  options.precision = core::Precision::kBF16;
  EXPECT_EQ(load(options).status().code(), StatusCode::kUnsupported);
  EXPECT_THAT(load(options).status().to_string(), HasSubstr("bf16"));
  options = {};
  options.properties["refused"] = "1";
  EXPECT_THAT(load(options).status().to_string(),
              AllOf(HasSubstr("refused=1"), HasSubstr("the fake does not know that key")));
  EXPECT_EQ(backend_->load(model(), "GPU", {}).status().code(), StatusCode::kDeviceNotFound);
}

TEST_F(OnnxruntimeBackendTest, StopsARunAtItsDeadline) {
  CompileOptions options;
  options.requests = 1;
  const auto executable = load(options);
  ASSERT_TRUE(executable.ok());
  state().run_hangs = true;
  core::RunOptions soon;
  soon.deadline = std::chrono::steady_clock::now() + std::chrono::milliseconds(20);
  EXPECT_EQ(run(**executable, soon).code(), StatusCode::kDeadlineExceeded);
  state().run_hangs = false;
  // The next run is not stopped by what stopped this one.
  EXPECT_EQ(run(**executable).to_string(), "ok");
  core::RunOptions later;
  later.deadline = std::chrono::steady_clock::now() + std::chrono::hours(1);
  EXPECT_EQ(run(**executable, later).to_string(), "ok");
}

// As the Run of a plugin provider does, which looks at no flag.
TEST_F(OnnxruntimeBackendTest, AProviderThatDoesNotStopKeepsNobodyAndHoldsItsPlace) {
  CompileOptions options;
  options.requests = 1;
  auto executable = load(options);
  ASSERT_TRUE(executable.ok());
  state().run_hangs = true;
  state().stop_is_ignored = true;
  const auto within = [](std::chrono::milliseconds time) {
    return core::RunOptions{.deadline = std::chrono::steady_clock::now() + time};
  };
  {
    // Gone at the end of the block: the address sanitizer watches.
    std::vector<float> input{1, 2, 3};
    TensorView view;
    view.data = input.data();
    view.shape = Shape{3};
    OutputTensor output;
    do {  // a busy machine may give one up before it begins
      EXPECT_EQ((*executable)->execute({&view, 1}, {&output, 1}, within(std::chrono::milliseconds(20))).code(),
                StatusCode::kDeadlineExceeded);
    } while (state().running == 0);
  }
  EXPECT_EQ((*executable)->hung_runs(), 1U);
  const int before = state().running;
  for (int i = 0; i < 14; ++i)
    EXPECT_EQ(run(**executable, within(std::chrono::milliseconds(20))).code(), StatusCode::kBusy);
  EXPECT_EQ(state().running, before) << "no work is added";
  // It may go while the vendor is at it.
  executable->reset();
  backend_.reset();
  EXPECT_GT(state().alive, 0);
  EXPECT_FALSE(state().wrong_order);
}

TEST_F(OnnxruntimeBackendTest, ARunThatTakesLongerThanItMayIsTheDevicesFault) {
  CompileOptions options;
  options.requests = 1;
  const auto executable = load(options);
  ASSERT_TRUE(executable.ok());
  state().run_hangs = true;
  state().stop_is_ignored = true;
  const auto status = run(**executable, {.run_timeout = std::chrono::milliseconds(10)});
  EXPECT_EQ(status.code(), StatusCode::kDeviceFailed);
  EXPECT_THAT(status.to_string(), HasSubstr("hung: onnxruntime:CPU"));
}

TEST_F(OnnxruntimeBackendTest, ACancelledRunReturnsAtOnce) {
  const auto executable = load();
  ASSERT_TRUE(executable.ok());
  state().run_hangs = true;
  state().stop_is_ignored = true;
  const auto cancellation = core::Cancellation::create();
  const int before = state().running;
  std::thread running(
      [&] { EXPECT_EQ(run(**executable, {.cancellation = cancellation}).code(), StatusCode::kCancelled); });
  while (state().running == before)
    std::this_thread::yield();
  cancellation.request();
  running.join();
}

TEST_F(OnnxruntimeBackendTest, GivesUpWaitingForARequest) {
  CompileOptions options;
  options.requests = 1;
  const auto executable = load(options);
  ASSERT_TRUE(executable.ok());
  state().run_hangs = true;
  const int before = state().running;
  core::RunOptions long_enough;
  long_enough.deadline = std::chrono::steady_clock::now() + std::chrono::milliseconds(300);
  std::thread occupant([&] {
    std::vector<float> input{1, 2, 3};
    TensorView view;
    view.data = input.data();
    view.shape = Shape{3};
    OutputTensor output;
    EXPECT_EQ((*executable)->execute({&view, 1}, {&output, 1}, long_enough).code(), StatusCode::kDeadlineExceeded);
  });
  while (state().running == before)
    std::this_thread::yield();
  core::RunOptions soon;
  soon.deadline = std::chrono::steady_clock::now() + std::chrono::milliseconds(10);
  EXPECT_EQ(run(**executable, soon).code(), StatusCode::kBusy);
  occupant.join();
}

TEST_F(OnnxruntimeBackendTest, ExecutableOutlivesTheBackend) {
  auto executable = load();
  ASSERT_TRUE(executable.ok());
  backend_.reset();
  EXPECT_EQ(run(**executable).to_string(), "ok");
}

TEST_F(OnnxruntimeBackendTest, RefusesADamagedBlobBeforeTheVendorSeesIt) {
  core::Blob blob;
  blob.backend = "onnxruntime";
  blob.device = "CPU";
  blob.runtime_version = "1.31.1";
  blob.bytes = core::SharedBytes::from_string("not what the vendor writes");
  const int before = state().made;
  EXPECT_EQ(core::load_blob(*backend_, blob, "CPU", {}).status().code(), StatusCode::kIncompatibleBlob);
  EXPECT_LE(state().made - before, 2) << "only the environment and its memory description";
  blob.runtime_version = "1.30.0";
  EXPECT_THAT(core::load_blob(*backend_, blob, "CPU", {}).status().to_string(),
              AllOf(HasSubstr("1.30.0"), HasSubstr("1.31.1")));
}

TEST_F(OnnxruntimeBackendTest, HonoursTheNumbersOfThreadsAndRequests) {
  CompileOptions options;
  options.threads = 5;
  const auto latency = load(options);
  ASSERT_TRUE(latency.ok());
  EXPECT_EQ((*latency)->active().threads, 5U);
  EXPECT_EQ((*latency)->active().requests, 1U);
  options.hint = core::PerformanceHint::kThroughput;
  const auto throughput = load(options);
  ASSERT_TRUE(throughput.ok());
  EXPECT_EQ((*throughput)->active().requests, 5U);
  options.requests = 2;
  const auto both = load(options);
  ASSERT_TRUE(both.ok());
  EXPECT_EQ((*both)->active().requests, 2U);
}

}  // namespace
}  // namespace latebind::onnxruntime
