// Running, on the fake library: memory, shapes, failures, deadlines, threads, and the order in which things die.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstring>
#include <thread>

#include "core/backend/questions.h"
#include "tests/openvino/fake_backend.h"
#include "tests/support/latch.h"

namespace latebind::openvino {
namespace {

using core::ElementType;
using core::kDynamic;
using core::OutputTensor;
using core::RunOptions;
using core::Shape;
using core::StatusCode;
using core::TensorView;
using std::chrono::milliseconds;
using std::chrono::steady_clock;
using test::fake_model;
using test::floats;
using test::given_up_calls;
using test::kAddModel;
using test::kDynamicModel;
using test::values;
using testing::AnyOf;
using testing::ElementsAre;
using testing::HasSubstr;

using ExecutableTest = test::FakeBackendTest;

RunOptions within(milliseconds time) {
  return {.deadline = steady_clock::now() + time};
}

TEST_F(ExecutableTest, RunsOftenAndForMany) {
  auto* executable = load(kAddModel, {.requests = 2});
  ASSERT_NE(executable, nullptr);
  constexpr int kThreads = 8;
  latebind::test::Latch start(kThreads);
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      start.arrive_and_wait();
      for (int i = 0; i < 10; ++i) {
        const auto status = add(*executable, t % 2 == 0 ? RunOptions{} : within(std::chrono::seconds(60)));
        EXPECT_TRUE(status.ok()) << status.to_string();
      }
    });
  }
  for (auto& thread : threads)
    thread.join();
  EXPECT_EQ(fake_.calls("ov_compiled_model_create_infer_request"), 2);
}

TEST_F(ExecutableTest, ASteadyStateMakesNoNewTensors) {
  auto* executable = load(kAddModel);
  std::vector<float> a{1, 2};
  std::vector<float> b{3, 4};
  std::vector<OutputTensor> outputs(1);
  const std::vector inputs{floats(a, {2}), floats(b, {2})};
  ASSERT_TRUE(executable->execute(inputs, outputs, {}).ok());
  const auto before = fake_.calls("ov_tensor_create_from_host_ptr");
  a[0] = 5;
  ASSERT_TRUE(executable->execute(inputs, outputs, {}).ok());
  EXPECT_EQ(fake_.calls("ov_tensor_create_from_host_ptr"), before);
  EXPECT_THAT(values(outputs[0]), ElementsAre(8, 6));
}

TEST_F(ExecutableTest, OneThreadIsTheCallersAndStartsNothing) {
  auto* executable = load(kAddModel, {.threads = 1});
  ASSERT_NE(executable, nullptr);
  EXPECT_EQ(executable->active().threads, 1U);
  EXPECT_TRUE(add(*executable).ok());
  EXPECT_EQ(fake_.calls("ov_infer_request_infer"), 1);
  EXPECT_EQ(fake_.calls("ov_infer_request_start_async"), 0);
}

TEST_F(ExecutableTest, WithTheVendorsOneStreamOfOneThreadARunIsStartedAndWaitedFor) {
  auto* executable = load(kAddModel, {.threads = 1, .properties = {{"NUM_STREAMS", "1"}}});
  ASSERT_NE(executable, nullptr);
  EXPECT_TRUE(add(*executable).ok());
  EXPECT_EQ(fake_.calls("ov_infer_request_infer"), 0);
  EXPECT_EQ(fake_.calls("ov_infer_request_start_async"), 1);
}

TEST_F(ExecutableTest, OnOtherDevicesMemoryIsAlwaysSetAnew) {
  fake_.script("device GPU\n");
  auto* executable = load(kAddModel, {.requests = 1}, "GPU");
  ASSERT_NE(executable, nullptr);
  std::vector<float> a{1, 2};
  std::vector<OutputTensor> outputs(1);
  const std::vector inputs{floats(a, {2}), floats(a, {2})};
  ASSERT_TRUE(executable->execute(inputs, outputs, {}).ok());
  const auto before = fake_.calls("ov_infer_request_set_input_tensor_by_index");
  ASSERT_TRUE(executable->execute(inputs, outputs, {}).ok());
  EXPECT_EQ(fake_.calls("ov_infer_request_set_input_tensor_by_index"), before + 2);
}

TEST_F(ExecutableTest, WhatDoesNotFitTheModelIsRefusedBeforeTheVendorSeesIt) {
  auto* executable = load(kAddModel);
  std::vector<float> a{1, 2, 3};
  std::vector<OutputTensor> outputs(1);
  EXPECT_EQ(executable->execute(std::vector{floats(a, {2})}, outputs, {}).code(), StatusCode::kCountMismatch);
  const auto shape = executable->execute(std::vector{floats(a, {2}), floats(a, {3})}, outputs, {});
  EXPECT_EQ(shape.code(), StatusCode::kShapeMismatch);
  EXPECT_THAT(shape.to_string(), HasSubstr("'b'"));
  auto wrong = floats(a, {2});
  wrong.type = ElementType::kI32;
  EXPECT_EQ(executable->execute(std::vector{wrong, floats(a, {2})}, outputs, {}).code(), StatusCode::kTypeMismatch);
  std::vector<OutputTensor> many(2);
  EXPECT_EQ(executable->execute(std::vector{floats(a, {2}), floats(a, {2})}, many, {}).code(),
            StatusCode::kCountMismatch);
  EXPECT_EQ(fake_.calls("run"), 0);
}

TEST_F(ExecutableTest, DynamicOutputsHaveTheirTrueShapeEachTime) {
  auto* executable = load("input a f32 ?,2\noutput rows first-rows 0\noutput at nonzero 0\n");
  ASSERT_NE(executable, nullptr);
  std::vector<OutputTensor> outputs(2);
  for (const std::int64_t rows : {3, 1, 2, 0}) {
    std::vector<float> a{static_cast<float>(rows), 7, 8, 0, 5, 6};
    const auto status = executable->execute(std::vector{floats(a, {3, 2})}, outputs, {});
    ASSERT_TRUE(status.ok()) << status.to_string();
    EXPECT_EQ(outputs[0].view().shape, (Shape{rows, 2}));
    EXPECT_EQ(values(outputs[0]), std::vector<float>(a.begin(), a.begin() + rows * 2));
    EXPECT_EQ(outputs[1].view().shape, (Shape{rows == 0 ? 4 : 5}));
    EXPECT_EQ(outputs[1].view().type, ElementType::kI64);
  }
}

TEST_F(ExecutableTest, EmptyInputsAndScalarsAreTensorsToo) {
  auto* executable = load("input a f32 ?\ninput s f32 -\noutput o identity 0\noutput p identity 1\n");
  ASSERT_NE(executable, nullptr);
  float scalar = 4;
  const TensorView nothing{.data = nullptr, .type = ElementType::kF32, .shape = {0}, .strides = {}};
  const TensorView one{.data = &scalar, .type = ElementType::kF32, .shape = {}, .strides = {}};
  std::vector<OutputTensor> outputs(2);
  const auto status = executable->execute(std::vector{nothing, one}, outputs, {});
  ASSERT_TRUE(status.ok()) << status.to_string();
  EXPECT_EQ(outputs[0].view().shape, (Shape{0}));
  EXPECT_EQ(outputs[1].view().shape, Shape{});
  EXPECT_THAT(values(outputs[1]), ElementsAre(4));
}

TEST_F(ExecutableTest, GapsAndOddAddressesAreCopied) {
  auto* executable = load(kDynamicModel);
  ASSERT_NE(executable, nullptr);
  std::vector<OutputTensor> outputs(1);
  // A transposed 2×2.
  std::vector<float> data{1, 2, 3, 4};
  auto view = floats(data, {2, 2});
  view.strides = {1, 2};
  ASSERT_TRUE(executable->execute(std::vector{view}, outputs, {}).ok());
  EXPECT_THAT(values(outputs[0]), ElementsAre(1, 3, 2, 4));
  // One byte off.
  alignas(8) std::array<char, 17> bytes{};
  std::memcpy(bytes.data() + 1, data.data(), 16);
  const TensorView odd{.data = bytes.data() + 1, .type = ElementType::kF32, .shape = {2, 2}, .strides = {}};
  ASSERT_TRUE(executable->execute(std::vector{odd}, outputs, {}).ok());
  EXPECT_THAT(values(outputs[0]), ElementsAre(1, 2, 3, 4));
}

TEST_F(ExecutableTest, WritesToTheCallersMemory) {
  for (const bool dynamic : {false, true}) {
    auto* executable = load(dynamic ? "input a f32 ?\noutput o identity 0\n" : "input a f32 2\noutput o identity 0\n");
    std::vector<float> a{1, 2};
    std::vector<float> out(2);
    std::vector<OutputTensor> outputs;
    outputs.push_back(OutputTensor::bound(out.data(), 8));
    ASSERT_TRUE(executable->execute(std::vector{floats(a, {2})}, outputs, {}).ok());
    EXPECT_THAT(out, ElementsAre(1, 2));
    outputs[0] = OutputTensor::bound(out.data(), 4);
    EXPECT_EQ(executable->execute(std::vector{floats(a, {2})}, outputs, {}).code(), StatusCode::kBufferTooSmall);
    // An address that no vendor would want.
    std::array<char, 12> odd{};
    outputs[0] = OutputTensor::bound(odd.data() + 1, 8);
    ASSERT_TRUE(executable->execute(std::vector{floats(a, {2})}, outputs, {}).ok());
    float second = 0;
    std::memcpy(&second, odd.data() + 5, 4);
    EXPECT_EQ(second, 2);
  }
  EXPECT_EQ(fake_.calls("ov_compiled_model_create_infer_request"), 2) << "a caller's mistake breaks no request";
}

TEST_F(ExecutableTest, ARunThatFailsOnceCostsOneRequest) {
  auto* executable = load(kAddModel, {.requests = 2});
  fake_.script("fail run 1 -1 the device hiccuped\n");
  const auto failed = add(*executable);
  EXPECT_EQ(failed.code(), StatusCode::kDeviceFailed);
  EXPECT_EQ(failed.vendor_text(), "the device hiccuped");
  for (int i = 0; i < 4; ++i)
    EXPECT_TRUE(add(*executable).ok());
  EXPECT_EQ(fake_.calls("ov_compiled_model_create_infer_request"), 3);
  EXPECT_EQ(fake_.alive("request"), 2);
}

TEST_F(ExecutableTest, RunsThatAlwaysFailNeverDrainThePool) {
  auto* executable = load(kAddModel, {.requests = 2});
  fake_.script("fail run * -1 broken\n");
  for (int i = 0; i < 10; ++i) {
    EXPECT_EQ(add(*executable, i % 2 == 0 ? RunOptions{} : within(std::chrono::seconds(60))).code(),
              StatusCode::kDeviceFailed);
  }
  // Not even when no request can be made any more.
  fake_.script("fail run * -1 broken\nfail ov_compiled_model_create_infer_request * -1 gone\n");
  for (int i = 0; i < 4; ++i)
    EXPECT_EQ(add(*executable).code(), StatusCode::kDeviceFailed);
  fake_.script("");
  EXPECT_TRUE(add(*executable).ok());
}

TEST_F(ExecutableTest, OneShapeThatFailsLeavesTheOthersAloneButOnTheCpu) {
  for (const bool on_cpu : {false, true}) {
    fake_.script("device CPU\ndevice GPU\n");
    auto* executable = load(kDynamicModel, {}, on_cpu ? "CPU" : "GPU");
    ASSERT_NE(executable, nullptr);
    fake_.script("device CPU\ndevice GPU\nfail-shape 2,2 -1 no kernel for this shape\n");
    std::vector<float> a{1, 2, 3, 4};
    std::vector<OutputTensor> outputs(1);
    EXPECT_TRUE(executable->execute(std::vector{floats(a, {1, 2})}, outputs, {}).ok());
    EXPECT_EQ(executable->execute(std::vector{floats(a, {2, 2})}, outputs, {}).code(), StatusCode::kDeviceFailed);
    const auto status = executable->execute(std::vector{floats(a, {1, 2})}, outputs, {});
    EXPECT_EQ(status.code(), on_cpu ? StatusCode::kBusy : StatusCode::kOk) << "it has to be loaded again";
    EXPECT_EQ(executable->spoiled_by(), on_cpu ? 1 : 0);
  }
}

TEST_F(ExecutableTest, AWrongOutputShapeIsAnErrorNotAResult) {
  for (const char* model : {kAddModel, kDynamicModel}) {
    for (const char* lie : {"wrong-shape\n", "wrong-rank\n"}) {
      fake_.script("");
      auto* executable = load(model);
      fake_.script(lie);
      std::vector<float> a{1, 2};
      std::vector<OutputTensor> outputs(1);
      const bool dynamic = model == kDynamicModel;
      const auto inputs = dynamic ? std::vector{floats(a, {1, 2})} : std::vector{floats(a, {2}), floats(a, {2})};
      const auto status = executable->execute(inputs, outputs, {});
      EXPECT_EQ(status.code(), StatusCode::kDeviceFailed) << model << lie;
      EXPECT_THAT(status.to_string(), HasSubstr(dynamic ? "'copy'" : "'sum'"));
    }
  }
}

TEST_F(ExecutableTest, EveryFailingCallOfARunIsAnErrorThatLeavesNothingBehind) {
  for (const char* function : {"ov_tensor_create_from_host_ptr", "ov_infer_request_set_input_tensor_by_index",
                               "ov_infer_request_set_output_tensor_by_index", "ov_infer_request_infer",
                               "ov_infer_request_get_output_tensor_by_index", "ov_tensor_get_shape",
                               "ov_tensor_get_byte_size", "ov_tensor_get_element_type", "ov_tensor_data"}) {
    fake_.script("");
    auto* executable = load("input a f32 2\noutput o identity 0\noutput at nonzero 0\n");
    ASSERT_NE(executable, nullptr);
    fake_.script(std::string("fail ") + function + " * -1 told to fail\n");
    std::vector<float> a{1, 2};
    std::vector<OutputTensor> outputs(2);
    const auto status = executable->execute(std::vector{floats(a, {2})}, outputs, {});
    EXPECT_EQ(status.code(), StatusCode::kDeviceFailed) << function;
    fake_.script("");
    EXPECT_TRUE(executable->execute(std::vector{floats(a, {2})}, outputs, {}).ok()) << function;
  }
}

// --- Deadlines ---

// Leaves a run behind that the library is at, as its script says: the caller is gone.
void leave_hanging(core::Executable& executable, const test::FakeOpenvino& fake) {
  const auto cancellation = core::Cancellation::create();
  const auto before = fake.calls("run");
  std::thread caller([&] {
    std::vector<float> a{1, 2};
    std::vector<float> b{10, 20};
    std::vector<OutputTensor> outputs(1);
    const std::vector inputs{floats(a, {2}), floats(b, {2})};
    EXPECT_EQ(executable.execute(inputs, outputs, {.cancellation = cancellation}).code(), StatusCode::kCancelled);
  });
  while (fake.calls("run") == before)
    std::this_thread::yield();
  cancellation.request();
  caller.join();
}

TEST_F(ExecutableTest, AHangThatObeysIsCancelledAtTheDeadline) {
  auto* executable = load(kAddModel, {.requests = 1});
  fake_.script("hang-cancellable\n");
  const auto status = add(*executable, within(milliseconds(20)));
  EXPECT_EQ(status.code(), StatusCode::kDeadlineExceeded);
  while (given_up_calls() != 0)
    std::this_thread::yield();
  fake_.script("");
  EXPECT_TRUE(add(*executable).ok());
  EXPECT_EQ(fake_.alive("request"), 1);
}

TEST_F(ExecutableTest, AHangThatDoesNotObeyKeepsItsPlaceUntilItComesBack) {
  auto* executable = load(kAddModel, {.requests = 2});
  fake_.script("hang 1\n");
  leave_hanging(*executable, fake_);
  EXPECT_EQ(executable->hung_runs(), 1U);
  EXPECT_EQ(fake_.alive("request"), 2);
  EXPECT_TRUE(add(*executable).ok()) << "the other place serves";
  EXPECT_TRUE(add(*executable).ok());
  fake_.script("hang 1\nhang 4\n");
  leave_hanging(*executable, fake_);
  for (int i = 0; i < 20; ++i)
    EXPECT_EQ(add(*executable, within(milliseconds(20))).code(), StatusCode::kBusy) << "no work is added";
  EXPECT_EQ(fake_.calls("run"), 4);
  fake_.script("");
  while (given_up_calls() != 0)
    std::this_thread::yield();
  EXPECT_TRUE(add(*executable).ok());
  EXPECT_EQ(executable->hung_runs(), 0U);
}

TEST_F(ExecutableTest, ARunTimeoutIsTheDevicesFaultAndADeadlineIsNot) {
  auto* executable = load(kAddModel, {.requests = 1});
  fake_.script("hang\n");
  do {  // a busy machine may give one up before it begins
    const auto status = add(*executable, {.run_timeout = milliseconds(10)});
    EXPECT_EQ(status.code(), StatusCode::kDeviceFailed);
    // The second when one that was given up before it began is not back yet.
    EXPECT_THAT(status.to_string(), AnyOf(HasSubstr("hung: openvino:CPU did not finish within 10 ms"),
                                          HasSubstr("hung: none of the 1 requests of this model comes back")));
  } while (fake_.calls("run") == 0);
  // A caller that would wait for a place that never becomes free gets an error, with or without its own time limit.
  EXPECT_THAT(add(*executable).to_string(), HasSubstr("hung:"));
  EXPECT_THAT(add(*executable, within(std::chrono::hours(1))).to_string(), HasSubstr("hung:"));
  fake_.script("");
  while (given_up_calls() != 0)
    std::this_thread::yield();
  EXPECT_TRUE(add(*executable).ok());
}

TEST_F(ExecutableTest, ACancelledRunReturnsAtOnce) {
  auto* executable = load(kAddModel, {.requests = 1});
  fake_.script("hang\n");
  const auto cancellation = core::Cancellation::create();
  std::thread running(
      [&] { EXPECT_EQ(add(*executable, {.cancellation = cancellation}).code(), StatusCode::kCancelled); });
  while (fake_.calls("run") == 0)
    std::this_thread::yield();
  const auto waits = core::Cancellation::create();
  std::thread waiting([&] { EXPECT_EQ(add(*executable, {.cancellation = waits}).code(), StatusCode::kCancelled); });
  waits.request();
  waiting.join();
  cancellation.request();
  running.join();
  EXPECT_EQ(add(*executable, {.cancellation = cancellation}).code(), StatusCode::kCancelled) << "before it begins";
  EXPECT_EQ(fake_.calls("run"), 1);
}

TEST_F(ExecutableTest, ADeviceThatHangsAgainAndAgainGetsNoMoreWork) {
  auto* executable = load(kAddModel, {.requests = core::kHungCallsMax + 2});
  fake_.script("hang\n");
  core::Status status;
  do {
    status = add(*executable, {.run_timeout = milliseconds(50)});  // in which the vendor has it, emulated or not
    EXPECT_EQ(status.code(), StatusCode::kDeviceFailed);
  } while (status.message().starts_with("hung:"));
  EXPECT_THAT(status.to_string(), HasSubstr("8 runs on openvino:CPU have not returned"));
  EXPECT_THAT(backend_->load(fake_model(kAddModel), "CPU", {}).status().to_string(), HasSubstr("no other model"));
  fake_.script("");
  while (given_up_calls() != 0)
    std::this_thread::yield();
  EXPECT_TRUE(add(*executable).ok());
}

TEST_F(ExecutableTest, NeverWaitsForAHungRunWhenItIsDestroyed) {
  auto* executable = load(kAddModel, {.requests = 1});
  fake_.script("hang\n");
  leave_hanging(*executable, fake_);
  executables_.clear();
  backend_.reset();
  EXPECT_EQ(given_up_calls(), 1U);
  EXPECT_EQ(fake_.alive("request"), 1);
  EXPECT_EQ(fake_.alive("core"), 1) << "what the run needs stays";
  fake_.script("");
  while (given_up_calls() != 0)
    std::this_thread::yield();
}

TEST_F(ExecutableTest, HungRunsOfTwoRuntimesAreFreedEachWithItsOwn) {
  latebind::test::FakeOpenvino other;
  auto other_backend = make_backend({.library_path = other.file().string()});
  auto* executable = load(kAddModel, {.requests = 1});
  auto loaded = other_backend->load(fake_model(kAddModel), "CPU", {.requests = 1});
  ASSERT_TRUE(loaded.ok()) << loaded.status().to_string();
  auto others = *std::move(loaded);
  fake_.script("hang\n");
  other.script("hang\n");
  leave_hanging(*executable, fake_);
  leave_hanging(*others, other);
  executables_.clear();
  backend_.reset();
  others.reset();
  other_backend.reset();
  ASSERT_EQ(given_up_calls(), 2U);
  // The one that was given up first comes back first.
  fake_.script("");
  while (given_up_calls() != 1)
    std::this_thread::yield();
  EXPECT_EQ(fake_.alive(), 0);
  EXPECT_EQ(other.alive("request"), 1);
  other.script("");
  while (given_up_calls() != 0)
    std::this_thread::yield();
  EXPECT_EQ(other.alive(), 0);
  EXPECT_EQ(other.defects(), "");
}

TEST_F(ExecutableTest, ARunThatIsGivenUpTouchesNoneOfTheCallersMemory) {
  auto* executable = load(kAddModel, {.requests = 1});
  fake_.script("hang\n");
  {
    // Gone at the end of the block: the address sanitizer watches.
    std::vector<float> a{1, 2};
    std::vector<float> b{1, 2};
    std::vector<OutputTensor> outputs(1);
    EXPECT_EQ(executable->execute(std::vector{floats(a, {2}), floats(b, {2})}, outputs, within(milliseconds(1))).code(),
              StatusCode::kDeadlineExceeded);
  }
  fake_.script("");
  // Wait for the run that was given up, whatever it does.
  while (given_up_calls() != 0)
    std::this_thread::yield();
}

TEST_F(ExecutableTest, WaitingForARequestUntilTheDeadlineIsBusy) {
  auto* executable = load(kAddModel, {.requests = 1});
  fake_.script("hang\n");
  std::thread holder([&] { EXPECT_TRUE(add(*executable).ok()); });
  while (fake_.calls("run") == 0)
    std::this_thread::yield();
  EXPECT_EQ(add(*executable, within(milliseconds(5))).code(), StatusCode::kBusy);
  fake_.script("");
  holder.join();
}

TEST_F(ExecutableTest, ADeadlineThatHasPassedIsNoCrash) {
  auto* executable = load(kAddModel, {.requests = 1});
  const auto status = add(*executable, within(milliseconds(-10)));
  EXPECT_EQ(status.code(), StatusCode::kDeadlineExceeded) << status.to_string();
  EXPECT_EQ(fake_.calls("run"), 0);
  EXPECT_TRUE(add(*executable).ok());
}

// --- Lifetimes ---

TEST_F(ExecutableTest, OutlivesItsBackendAndItsSiblings) {
  auto* first = load(kAddModel);
  auto* second = load(kAddModel);
  const auto blob = core::compile_blob(*backend_, fake_model(kAddModel), "CPU", {});
  ASSERT_TRUE(blob.ok());
  auto imported = core::load_blob(*backend_, *blob, "CPU", {});
  ASSERT_TRUE(imported.ok());
  backend_.reset();
  EXPECT_TRUE(add(*first).ok());
  executables_.erase(executables_.begin());
  EXPECT_TRUE(add(*second).ok());
  EXPECT_TRUE(add(**imported).ok());
}

TEST_F(ExecutableTest, IsLoadedByManyThreadsAtOnce) {
  constexpr int kThreads = 8;
  latebind::test::Latch start(kThreads);
  std::vector<std::thread> threads;
  const auto blob = core::compile_blob(*backend_, fake_model(kAddModel), "CPU", {});
  ASSERT_TRUE(blob.ok());
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      start.arrive_and_wait();
      auto loaded =
          t % 2 == 0 ? backend_->load(fake_model(kAddModel), "CPU", {}) : core::load_blob(*backend_, *blob, "CPU", {});
      ASSERT_TRUE(loaded.ok()) << loaded.status().to_string();
      EXPECT_TRUE(add(**loaded).ok());
    });
  }
  for (auto& thread : threads)
    thread.join();
}

}  // namespace
}  // namespace latebind::openvino
