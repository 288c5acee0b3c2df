// Who is to blame when a run fails: docs/decisions/0013-when-a-device-is-blamed.md.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "core/engine/engine.h"
#include "core/tensor/made_up_request.h"
#include "tests/support/scripted_backend.h"

namespace latebind::core {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr float kCallersValue = 7777;

Status too_large() {
  return Status::from_vendor(StatusCode::kDeviceFailed, "the run failed", -5, "no room for so many");
}

class BlameTest : public ::testing::Test {
 protected:
  void SetUp() override {
    backend->with("NPU", DeviceKind::kNpu).with("CPU", DeviceKind::kCpu);
    ASSERT_TRUE(registry.add(backend).ok());
    for (const std::string device : {"NPU", "CPU"}) {
      backend->input_scripts[device] = [this, device](std::span<const TensorView> inputs) {
        const std::lock_guard lock(mutex);
        const auto length = static_cast<std::size_t>(inputs[0].shape[0]);
        const auto* x = static_cast<const float*>(inputs[0].data);
        for (std::size_t i = 0; i < length; ++i) {
          if (x[i] == kCallersValue) {
            ++callers_runs[device];
            break;
          }
        }
        ++runs[device];
        if (length > longest[device]) return too_large();
        return dead[device] ? Status(StatusCode::kDeviceFailed, "the driver died") : Status();
      };
    }
    probes_in(std::chrono::hours(1));
  }

  void probes_in(std::chrono::milliseconds time) {
    options.failover.breaker.backoff_first = time;
    options.failover.breaker.backoff_most = time;
  }

  void load(std::string_view placement = "auto") {
    auto loaded = Engine(registry).load(Model::from_forms("a model", {ModelForm{}}),
                                        *Placement::parse(placement, registry), options);
    ASSERT_TRUE(loaded.ok()) << loaded.status().to_string();
    placed = *std::move(loaded);
  }

  struct Outcome {
    Status status;
    std::shared_ptr<const Attestation> by;
    [[nodiscard]] std::string device() const { return by ? by->active.device : status.to_string(); }
  };

  Outcome run(std::size_t length) {
    std::vector<float> x(length, kCallersValue);
    const TensorView input{x.data(), ElementType::kF32, {static_cast<std::int64_t>(length)}, {}};
    OutputTensor output;
    Outcome outcome;
    outcome.status = placed->execute({&input, 1}, {&output, 1}, {}, &outcome.by);
    return outcome;
  }

  template <class T>
  T locked(const T& value) {
    const std::lock_guard lock(mutex);
    return value;
  }
  void set_dead(const std::string& device, bool is_dead) {
    const std::lock_guard lock(mutex);
    dead[device] = is_dead;
  }

  Registry registry;
  LoadOptions options;
  std::shared_ptr<test::ScriptedBackend> backend = std::make_shared<test::ScriptedBackend>("vendor");
  std::mutex mutex;
  // Guarded by mutex.
  std::map<std::string, std::size_t> longest{{"NPU", 512}, {"CPU", 512}};
  std::map<std::string, bool> dead;
  std::map<std::string, int> runs;
  std::map<std::string, int> callers_runs;

  std::shared_ptr<PlacedModel> placed;  // last: goes before what its devices refer to
};

TEST_F(BlameTest, ARequestThatAWorkingDeviceCannotComputeIsTheCallersMistake) {
  load("npu");
  ASSERT_TRUE(run(3).status.ok());
  const Status status = run(600).status;
  EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
  EXPECT_FALSE(is_retryable(status.code()));
  EXPECT_EQ(status.vendor_code(), -5);
  EXPECT_EQ(status.vendor_text(), "no room for so many");
  EXPECT_THAT(status.to_string(), AllOf(HasSubstr("vendor:NPU works"), HasSubstr("the run failed")));
  EXPECT_FALSE(placed->attestation()->fallback);
  EXPECT_EQ(run(3).device(), "NPU");
  EXPECT_EQ(backend->loads, 1);
}

TEST_F(BlameTest, ARequestThatFailsOnEveryDeviceLeavesAllInCharge) {
  load();
  ASSERT_TRUE(run(3).status.ok());
  for (int i = 0; i < 5; ++i)
    EXPECT_EQ(run(600).status.code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(run(3).device(), "NPU");
  EXPECT_FALSE(placed->attestation()->fallback);
  EXPECT_EQ(backend->loads, 2);
}

TEST_F(BlameTest, ARequestThatIsTooLargeForOneDeviceIsAnsweredByTheNextAndRestsNobody) {
  longest["NPU"] = 8;
  load();
  ASSERT_EQ(run(3).device(), "NPU");
  const Outcome outcome = run(9);
  EXPECT_EQ(outcome.device(), "CPU");
  EXPECT_THAT(outcome.by->reason, AllOf(HasSubstr("NPU"), HasSubstr("no room for so many")));
  EXPECT_EQ(run(3).device(), "NPU");
}

TEST_F(BlameTest, ARequestThatADeviceWithoutMemoryMightHaveComputedIsNotTheCallersMistake) {
  longest["NPU"] = 8;
  bool lacks_memory = false;
  backend->run_scripts["CPU"] = [&](const RunOptions&) {
    return lacks_memory ? Status(StatusCode::kOutOfMemory, "no memory for the run") : Status();
  };
  backend->load_failures["CPU"] = Status(StatusCode::kOutOfMemory, "no memory for the model");
  load();
  ASSERT_EQ(run(3).device(), "NPU");
  EXPECT_EQ(run(9).status.code(), StatusCode::kOutOfMemory);
  backend->load_failures.clear();
  EXPECT_EQ(run(9).device(), "CPU");
  lacks_memory = true;
  EXPECT_EQ(run(9).status.code(), StatusCode::kOutOfMemory);
  EXPECT_EQ(run(3).device(), "NPU");
}

TEST_F(BlameTest, ARequestThatTookTooLongMayHaveMetABusyMachine) {
  options.failover.run_timeout = std::chrono::milliseconds(50);
  bool is_busy = false;
  backend->run_scripts["NPU"] = [&](const RunOptions&) -> Status {
    if (!std::exchange(is_busy, false)) return {};
    std::this_thread::sleep_for(std::chrono::milliseconds(60));
    return {StatusCode::kDeviceFailed, "hung: vendor:NPU did not finish within 50 ms"};
  };
  load("npu");
  ASSERT_TRUE(run(3).status.ok());
  is_busy = true;
  const Status status = run(3).status;
  EXPECT_EQ(status.code(), StatusCode::kDeviceFailed) << status.to_string();
  EXPECT_TRUE(is_retryable(status.code()));
  EXPECT_FALSE(placed->attestation()->fallback);
  EXPECT_EQ(run(3).device(), "NPU") << "it answers, and stays";
}

TEST_F(BlameTest, ADeviceThatDoesNotAnswerAQuestionRests) {
  load();
  ASSERT_EQ(run(3).device(), "NPU");
  set_dead("NPU", true);
  EXPECT_EQ(run(3).device(), "CPU");
  const int asked = locked(runs)["NPU"];
  EXPECT_EQ(asked, 3) << "the first request, the second, and a question";
  EXPECT_EQ(run(3).device(), "CPU");
  EXPECT_EQ(locked(runs)["NPU"], asked);
}

TEST_F(BlameTest, NothingOfACallersIsRunTwiceOnADevice) {
  probes_in(std::chrono::milliseconds(1));
  load();
  ASSERT_EQ(run(3).device(), "NPU");
  set_dead("NPU", true);
  ASSERT_EQ(run(3).device(), "CPU");
  while (locked(runs)["NPU"] < 8)
    std::this_thread::yield();
  EXPECT_EQ(locked(callers_runs)["NPU"], 2);
  EXPECT_EQ(locked(callers_runs)["CPU"], 1);
  set_dead("NPU", false);
  while (placed->attestation()->fallback)
    std::this_thread::yield();
  EXPECT_EQ(locked(callers_runs)["NPU"], 2);
}

TEST_F(BlameTest, ADeviceThatNeverComputedAnythingIsTriedWithOneRequestFromTimeToTime) {
  probes_in(std::chrono::milliseconds(1));
  set_dead("NPU", true);
  load();
  const Outcome first = run(3);
  ASSERT_EQ(first.device(), "CPU");
  // Of this answer: the next request may be let through already.
  EXPECT_TRUE(first.by->fallback) << "it did not do what the CPU did";
  // The requests that are let through are answered all the same.
  while (locked(callers_runs)["NPU"] < 4)
    ASSERT_EQ(run(3).device(), "CPU");
  set_dead("NPU", false);
  while (run(3).device() != "NPU")
    std::this_thread::yield();
  EXPECT_FALSE(placed->attestation()->fallback);
}

TEST_F(BlameTest, ATrialThatSaysNothingLeavesThePlaceToTheNextRequest) {
  probes_in(std::chrono::milliseconds(1));
  set_dead("NPU", true);
  load();
  ASSERT_EQ(run(3).device(), "CPU");
  set_dead("NPU", false);
  // Wrong inputs come first: whoever is let through is refused before the device sees anything.
  std::array<double, 3> wrong{};
  const TensorView input{wrong.data(), ElementType::kF64, {3}, {}};
  OutputTensor output;
  for (int i = 0; i < 20; ++i) {
    EXPECT_EQ(placed->execute({&input, 1}, {&output, 1}).code(), StatusCode::kTypeMismatch);
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  while (run(3).device() != "NPU")
    std::this_thread::yield();
}

TEST_F(BlameTest, TheFirstRequestOfAllMayBeOneThatNobodyComputesAndNobodyRests) {
  load();
  for (int i = 0; i < 3; ++i) {
    const Status status = run(600).status;
    EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
    EXPECT_THAT(status.to_string(), HasSubstr("vendor:NPU works"));
  }
  EXPECT_EQ(run(3).device(), "NPU");
  EXPECT_FALSE(placed->attestation()->fallback);
}

TEST_F(BlameTest, TheFirstRequestOfAllMayBeOneThatAnotherDeviceComputesAndNobodyRests) {
  longest["NPU"] = 8;
  load();
  for (int i = 0; i < 3; ++i)
    EXPECT_EQ(run(20).device(), "CPU");
  EXPECT_FALSE(placed->attestation()->fallback);
  EXPECT_EQ(run(3).device(), "NPU");
}

// Zeros in shapes of ones may be what a model cannot compute: then they say nothing of the device.
TEST_F(BlameTest, ADeviceThatRefusesTheSmallestShapesIsNotBlamedForThem) {
  backend->input_scripts["NPU"] = backend->input_scripts["CPU"] = [](std::span<const TensorView> inputs) {
    return inputs[0].shape[0] == 3 ? Status() : too_large();
  };
  load();
  EXPECT_EQ(run(20).status.code(), StatusCode::kDeviceFailed);
  EXPECT_EQ(run(3).device(), "NPU");
  EXPECT_FALSE(placed->attestation()->fallback);
  EXPECT_EQ(run(20).status.code(), StatusCode::kInvalidArgument);
}

TEST_F(BlameTest, ADeviceThatHoldsItsRunsForEverIsFoundOutAlthoughNobodyHasTime) {
  probes_in(std::chrono::hours(1));
  options.failover.run_timeout = std::chrono::milliseconds(50);
  backend->run_scripts["NPU"] = [this](const RunOptions& run_options) -> Status {
    const std::lock_guard lock(mutex);
    if (!dead["NPU"]) return {};
    if (run_options.deadline) std::this_thread::sleep_until(*run_options.deadline);
    return {StatusCode::kDeadlineExceeded, "no answer"};
  };
  load();
  ASSERT_EQ(run(3).device(), "NPU");
  set_dead("NPU", true);
  float x[1] = {1};
  const TensorView input{x, ElementType::kF32, {1}, {}};
  OutputTensor output;
  const auto hurried = [&] {
    RunOptions hurry;
    hurry.deadline = std::chrono::steady_clock::now() + std::chrono::milliseconds(1001);
    return placed->execute({&input, 1}, {&output, 1}, hurry).code();
  };
  for (int i = 0; i < 3; ++i)
    EXPECT_EQ(hurried(), StatusCode::kDeadlineExceeded);
  while (!placed->attestation()->fallback)
    std::this_thread::yield();
  EXPECT_THAT(placed->attestation()->reason, HasSubstr("seems to hang"));
  EXPECT_EQ(run(3).device(), "CPU");
}

TEST(MadeUpRequestTest, HoldsZerosInTheShapesThatAreGiven) {
  const std::vector<TensorInfo> inputs{{"ids", ElementType::kI64, {kDynamic, kDynamic}},
                                       {"scale", ElementType::kF32, {}}};
  const std::vector<Shape> shapes{{2, 3}, {}};
  const auto request = MadeUpRequest::make(inputs, shapes);
  ASSERT_TRUE(request.ok());
  ASSERT_EQ(request->views().size(), 2U);
  EXPECT_EQ(request->views()[0].shape, (Shape{2, 3}));
  for (int i = 0; i < 6; ++i)
    EXPECT_EQ(static_cast<const std::int64_t*>(request->views()[0].data)[i], 0);
  EXPECT_EQ(*static_cast<const float*>(request->views()[1].data), 0.0F);
}

TEST(MadeUpRequestTest, IsNeverLarge) {
  const std::vector<TensorInfo> inputs{{"x", ElementType::kF32, {kDynamic}}};
  const std::vector<Shape> shapes{{std::int64_t{1} << 30}};
  EXPECT_EQ(MadeUpRequest::make(inputs, shapes).status().code(), StatusCode::kUnsupported);
}

}  // namespace
}  // namespace latebind::core
