#include "core/failover/placed_model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "core/engine/engine.h"
#include "tests/support/latch.h"
#include "tests/support/scripted_backend.h"

namespace latebind::core {
namespace {

using std::chrono::milliseconds;
using ::testing::HasSubstr;

class PlacedModelTest : public ::testing::Test {
 protected:
  void SetUp() override {
    backend = std::make_shared<test::ScriptedBackend>("vendor");
    backend->with("NPU", DeviceKind::kNpu).with("CPU", DeviceKind::kCpu);
    ASSERT_TRUE(registry.add(backend).ok());
    options.failover.breaker.backoff_first = milliseconds(1);
    options.failover.breaker.backoff_most = milliseconds(2);
  }

  // The NPU does what `npu_status` says at each run.
  void script_npu() {
    backend->run_scripts["NPU"] = [this](const RunOptions& run) -> Status {
      const std::lock_guard lock(mutex);
      ++npu_runs;
      npu_ran.notify_all();
      last_run = run;
      return npu_status;
    };
  }
  void set_npu(Status status) {
    const std::lock_guard lock(mutex);
    npu_status = std::move(status);
  }

  std::shared_ptr<PlacedModel> load(std::string_view placement = "auto") {
    auto placed = Engine(registry).load(model, *Placement::parse(placement, registry), options);
    EXPECT_TRUE(placed.ok()) << placed.status().to_string();
    return *placed;
  }

  // One run of x + 1; the id of the device that answered.
  Status run(PlacedModel& placed, std::string* answered_by = nullptr, RunOptions run_options = {}) {
    float x[3] = {1, 2, 3};
    const TensorView input{x, ElementType::kF32, {3}, {}};
    OutputTensor output;
    std::shared_ptr<const Attestation> attestation;
    const Status status = placed.execute({&input, 1}, {&output, 1}, run_options, &attestation);
    if (status.ok()) {
      EXPECT_EQ(static_cast<const float*>(output.view().data)[2], 4.0F);
      if (answered_by != nullptr) *answered_by = attestation->active.device;
    }
    return status;
  }

  Registry registry;
  LoadOptions options;
  Model model = Model::from_forms("a model", {ModelForm{}});
  std::shared_ptr<test::ScriptedBackend> backend;

  std::mutex mutex;
  std::condition_variable npu_ran;
  int npu_runs = 0;
  Status npu_status;
  RunOptions last_run;
};

const Status kDied(StatusCode::kDeviceFailed, "the driver died");

TEST_F(PlacedModelTest, AFailedRunIsAnsweredByTheNextDeviceAndSaysWhy) {
  script_npu();
  options.failover.breaker.backoff_first = std::chrono::hours(1);
  options.failover.breaker.backoff_most = std::chrono::hours(1);
  const auto placed = load();
  std::string by;
  ASSERT_TRUE(run(*placed, &by).ok());
  EXPECT_EQ(by, "NPU");
  EXPECT_FALSE(placed->attestation()->fallback);

  set_npu(kDied);
  ASSERT_TRUE(run(*placed, &by).ok());
  EXPECT_EQ(by, "CPU");
  const auto attestation = placed->attestation();
  EXPECT_TRUE(attestation->fallback);
  EXPECT_THAT(attestation->reason, HasSubstr("using vendor:CPU, because vendor:NPU: the driver died"));
  // The NPU rests: it is not asked again.
  const int runs = npu_runs;
  ASSERT_TRUE(run(*placed, &by).ok());
  EXPECT_EQ(by, "CPU");
  EXPECT_EQ(npu_runs, runs);
}

TEST_F(PlacedModelTest, ADeviceThatWorksAgainIsTakenBackByARealProbe) {
  script_npu();
  const auto placed = load();
  ASSERT_TRUE(run(*placed).ok());
  set_npu(kDied);
  ASSERT_TRUE(run(*placed).ok());
  {
    // It is probed, and fails, at least twice.
    std::unique_lock lock(mutex);
    npu_ran.wait(lock, [&] { return npu_runs >= 3; });
  }
  EXPECT_TRUE(placed->attestation()->fallback);
  set_npu({});
  while (placed->attestation()->fallback)
    std::this_thread::yield();
  std::string by;
  ASSERT_TRUE(run(*placed, &by).ok());
  EXPECT_EQ(by, "NPU");
  EXPECT_EQ(placed->attestation()->reason, "");
}

TEST_F(PlacedModelTest, ADeviceThatForgotItsModelGetsItAnew) {
  script_npu();
  const auto placed = load();
  ASSERT_TRUE(run(*placed).ok());
  const int loads = backend->loads;
  // Runs of what was loaded before fail for ever; what is loaded after the reset works.
  set_npu(kDied);
  {
    const std::lock_guard lock(mutex);
    backend->run_scripts["NPU"] = nullptr;
  }
  ASSERT_TRUE(run(*placed).ok());
  while (placed->attestation()->fallback)
    std::this_thread::yield();
  EXPECT_GT(backend->loads, loads + 1);  // the CPU, then the NPU anew
}

TEST_F(PlacedModelTest, ALostDeviceIsLetGoOfBeforeItIsLoadedAgain) {
  script_npu();
  // A vendor whose device stays lost as long as anything that was loaded on it lives.
  const auto device = std::make_shared<std::atomic<bool>>(false);
  backend->run_scripts["NPU"] = [device, script = backend->run_scripts["NPU"]](const RunOptions& run) {
    return *device ? Status(StatusCode::kDeviceFailed, "the device is lost") : script(run);
  };
  // This one and the script's.
  backend->load_scripts["NPU"] = [device_use = std::weak_ptr(device)] {
    if (device_use.use_count() <= 2) *device_use.lock() = false;
  };
  const auto placed = load();
  // A second model on it, which fails only when it is asked.
  const auto other = load();
  ASSERT_TRUE(run(*placed).ok());
  ASSERT_TRUE(run(*other).ok());
  *device = true;
  std::string by;
  ASSERT_TRUE(run(*placed, &by).ok());
  EXPECT_EQ(by, "CPU");
  ASSERT_TRUE(run(*other, &by).ok());
  EXPECT_EQ(by, "CPU");
  while (placed->attestation()->fallback || other->attestation()->fallback)
    std::this_thread::yield();
  ASSERT_TRUE(run(*placed, &by).ok());
  EXPECT_EQ(by, "NPU");
}

TEST_F(PlacedModelTest, TheCallersMistakeIsNotTheDevices) {
  script_npu();
  const auto placed = load();
  set_npu(Status(StatusCode::kShapeMismatch, "wrong shape"));
  EXPECT_EQ(run(*placed).code(), StatusCode::kShapeMismatch);
  set_npu(Status(StatusCode::kBusy, "busy"));
  EXPECT_EQ(run(*placed).code(), StatusCode::kBusy);
  set_npu({});
  std::string by;
  ASSERT_TRUE(run(*placed, &by).ok());
  EXPECT_EQ(by, "NPU");
}

TEST_F(PlacedModelTest, AHungDeviceIsAFailureAndAnImpatientCallerIsNot) {
  script_npu();
  options.failover.run_timeout = std::chrono::hours(1);
  const auto placed = load();
  ASSERT_TRUE(run(*placed).ok());
  set_npu(Status(StatusCode::kDeadlineExceeded, "too slow"));
  RunOptions impatient;
  impatient.deadline = std::chrono::steady_clock::now() + milliseconds(5);
  EXPECT_EQ(run(*placed, nullptr, impatient).code(), StatusCode::kDeadlineExceeded);
  EXPECT_FALSE(placed->attestation()->fallback);
  set_npu(Status(StatusCode::kDeviceFailed, "hung: it did not finish in an hour"));
  std::string by;
  ASSERT_TRUE(run(*placed, &by).ok());
  EXPECT_EQ(by, "CPU");
  EXPECT_THAT(placed->attestation()->reason, HasSubstr("hung"));
}

TEST_F(PlacedModelTest, AcceleratorsHaveARunTimeoutByDefaultAndCpusNone) {
  script_npu();
  RunOptions on_cpu;
  backend->run_scripts["CPU"] = [&](const RunOptions& run_options) -> Status {
    on_cpu = run_options;
    return {};
  };
  ASSERT_TRUE(run(*load()).ok());
  EXPECT_EQ(last_run.run_timeout, kAcceleratorRunTimeout);
  EXPECT_FALSE(last_run.deadline.has_value());
  ASSERT_TRUE(run(*load("cpu")).ok());
  EXPECT_FALSE(on_cpu.run_timeout.has_value());
}

TEST_F(PlacedModelTest, StrictNeverAnswersFromAnotherDevice) {
  script_npu();
  options.strict = true;
  const auto placed = load();
  set_npu(kDied);
  const Status status = run(*placed);
  EXPECT_EQ(status.code(), StatusCode::kDeviceFailed);
  EXPECT_THAT(status.to_string(), HasSubstr("strict"));
  EXPECT_THAT(status.to_string(), HasSubstr("the driver died"));
  set_npu({});
  std::string by;
  ASSERT_TRUE(run(*placed, &by).ok());
  EXPECT_EQ(by, "NPU");
}

TEST_F(PlacedModelTest, AnAnswerSaysWhyItMovedEvenIfTheDeviceWorksAgainByThen) {
  std::atomic<int> npu_asked{0};
  backend->run_scripts["NPU"] = [&](const RunOptions&) -> Status {
    if (++npu_asked == 1) return kDied;
    return {};
  };
  std::shared_ptr<PlacedModel> placed;
  // The CPU takes so long that the NPU is back before it answers.
  backend->run_scripts["CPU"] = [&](const RunOptions&) -> Status {
    while (placed->attestation()->fallback)
      std::this_thread::yield();
    return {};
  };
  placed = load();
  float x[1] = {1};
  const TensorView input{x, ElementType::kF32, {1}, {}};
  OutputTensor output;
  std::shared_ptr<const Attestation> by;
  ASSERT_TRUE(placed->execute({&input, 1}, {&output, 1}, {}, &by).ok());
  EXPECT_EQ(by->active.device, "CPU");
  EXPECT_TRUE(by->fallback);
  EXPECT_THAT(by->reason, HasSubstr("the driver died"));
  EXPECT_EQ(by->steps.size(), 2U);
}

TEST_F(PlacedModelTest, WhatBeganBeforeADeviceFailedTellsNothingAboutIt) {
  test::Latch second_failed(1);
  test::Latch first_is_in(1);
  std::atomic<int> runs{0};
  backend->run_scripts["NPU"] = [&](const RunOptions&) -> Status {
    if (++runs > 1) return kDied;
    first_is_in.count_down();
    second_failed.wait();
    return {};
  };
  options.failover.breaker.backoff_first = std::chrono::hours(1);
  options.failover.breaker.backoff_most = std::chrono::hours(1);
  const auto placed = load();
  std::thread early([&] {
    std::string by;
    EXPECT_TRUE(run(*placed, &by).ok());
    EXPECT_EQ(by, "NPU");
  });
  first_is_in.wait();
  std::string by;
  ASSERT_TRUE(run(*placed, &by).ok());
  EXPECT_EQ(by, "CPU");
  second_failed.count_down();
  early.join();
  EXPECT_TRUE(placed->attestation()->fallback);
  EXPECT_EQ(placed->attestation()->active.device, "CPU");
}

TEST_F(PlacedModelTest, WhenEveryDeviceRestsRequestsTryThemAllTheSame) {
  script_npu();
  std::atomic<bool> cpu_works{false};
  backend->run_scripts["CPU"] = [&](const RunOptions&) -> Status {
    if (cpu_works) return {};
    return Status(StatusCode::kDeviceFailed, "the CPU too");
  };
  options.failover.breaker.backoff_first = std::chrono::hours(1);
  options.failover.breaker.backoff_most = std::chrono::hours(1);
  const auto placed = load();
  set_npu(kDied);
  const Status status = run(*placed);
  EXPECT_EQ(status.code(), StatusCode::kDeviceFailed);
  EXPECT_THAT(status.to_string(), HasSubstr("the driver died"));
  EXPECT_THAT(status.to_string(), HasSubstr("the CPU too"));
  cpu_works = true;
  std::string by;
  ASSERT_TRUE(run(*placed, &by).ok());
  EXPECT_EQ(by, "CPU");
}

TEST_F(PlacedModelTest, ADeviceThatFailsToLoadAtFirstIsTakenWhenItCan) {
  script_npu();
  backend->load_failures["NPU"] = Status(StatusCode::kDeviceFailed, "the compiler crashed");
  const auto placed = load();
  EXPECT_THAT(placed->attestation()->reason, HasSubstr("the compiler crashed"));
  std::string by;
  ASSERT_TRUE(run(*placed, &by).ok());
  EXPECT_EQ(by, "CPU");
}

TEST_F(PlacedModelTest, ADeviceThatNeverFinishesLoadingIsPassedOverAndUsedOnceItHas) {
  const auto gate = std::make_shared<test::Latch>(1);
  backend->load_scripts["NPU"] = [gate] { gate->wait(); };
  options.failover.load_timeout = milliseconds(20);
  const auto placed = load();
  std::string by;
  ASSERT_TRUE(run(*placed, &by).ok());
  EXPECT_EQ(by, "CPU");
  EXPECT_THAT(placed->attestation()->reason, HasSubstr("vendor:NPU did not finish loading a model within 20 ms"));
  gate->count_down();
  // A device that was never asked anything is tried with a request.
  while (by != "NPU")
    ASSERT_TRUE(run(*placed, &by).ok());
}

TEST_F(PlacedModelTest, LoadingOnACpuHasNoLimitUnlessOneIsSet) {
  backend->load_scripts["CPU"] = [] { std::this_thread::sleep_for(milliseconds(20)); };
  EXPECT_NE(load("cpu"), nullptr);
  const auto gate = std::make_shared<test::Latch>(1);
  backend->load_scripts["CPU"] = [gate] { gate->wait(); };
  options.failover.load_timeout = milliseconds(10);
  const auto placed = Engine(registry).load(model, *Placement::parse("cpu", registry), options);
  EXPECT_EQ(placed.status().code(), StatusCode::kNoDevice);
  EXPECT_THAT(placed.status().to_string(), HasSubstr("did not finish loading"));
  gate->count_down();
}

TEST_F(PlacedModelTest, LoadingThatIsCancelledReturnsAtOnce) {
  const auto gate = std::make_shared<test::Latch>(1);
  const auto cancellation = Cancellation::create();
  backend->load_scripts["NPU"] = [gate, cancellation] {
    cancellation.request();
    gate->wait();
  };
  options.cancellation = cancellation;
  const auto placed = Engine(registry).load(model, *Placement::parse("auto", registry), options);
  EXPECT_EQ(placed.status().code(), StatusCode::kCancelled);
  EXPECT_EQ(backend->loads, 1);
  gate->count_down();
}

TEST_F(PlacedModelTest, ARequestIsCancelledWhileItsDeviceStillLoads) {
  backend->run_scripts["NPU"] = [](const RunOptions&) -> Status { return kDied; };
  const auto placed = load();
  const auto gate = std::make_shared<test::Latch>(1);
  const auto cancellation = Cancellation::create();
  backend->load_scripts["CPU"] = [gate, cancellation] {
    cancellation.request();
    gate->wait();
  };
  EXPECT_EQ(run(*placed, nullptr, {.cancellation = cancellation}).code(), StatusCode::kCancelled);
  gate->count_down();
  std::string by;
  ASSERT_TRUE(run(*placed, &by).ok());
  EXPECT_EQ(by, "CPU");
}

TEST_F(PlacedModelTest, AWarmStandbyIsLoadedBeforeItIsNeeded) {
  options.failover.warm_standby = true;
  const auto placed = load();
  while (backend->loads < 2)
    std::this_thread::yield();
  EXPECT_FALSE(placed->attestation()->fallback);
}

TEST_F(PlacedModelTest, NoRequestIsLostWhileFaultsComeAtRandom) {
  std::atomic<unsigned> counter{0};
  backend->run_scripts["NPU"] = [&](const RunOptions&) -> Status {
    // Bursts of failures, as drivers have them.
    if ((counter++ / 64) % 3 == 1) return kDied;
    return {};
  };
  const auto placed = load();
  std::atomic<int> answered{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 500; ++i) {
        if (run(*placed).ok()) ++answered;
      }
    });
  }
  for (auto& thread : threads)
    thread.join();
  EXPECT_EQ(answered, 2000);
}

TEST_F(PlacedModelTest, DestructionDoesNotWaitForAProbeThatHangs) {
  std::mutex gate_mutex;
  std::condition_variable gate;
  bool hanging = false;
  bool open = false;
  std::atomic<int> runs{0};
  backend->run_scripts["NPU"] = [&](const RunOptions&) -> Status {
    if (++runs == 1) return {};
    if (runs <= 3) return kDied;  // a request, and the question after it
    std::unique_lock lock(gate_mutex);
    hanging = true;
    gate.notify_all();
    gate.wait(lock, [&] { return open; });
    hanging = false;
    gate.notify_all();
    return {};
  };
  auto placed = load();
  ASSERT_TRUE(run(*placed).ok());
  ASSERT_TRUE(run(*placed).ok());
  {
    std::unique_lock lock(gate_mutex);
    gate.wait(lock, [&] { return hanging; });
  }
  placed.reset();  // returns although the probe hangs
  std::unique_lock lock(gate_mutex);
  EXPECT_TRUE(hanging);
  open = true;
  gate.notify_all();
  gate.wait(lock, [&] { return !hanging; });
}

}  // namespace
}  // namespace latebind::core
