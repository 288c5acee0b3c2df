// What becomes of requests when devices fail, vanish, lie and come back, with the attestation of each answer: the real
// engine and the real backend on a machine that the fake library plays.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>

#include "tests/fakes/loaded.h"
#include "tests/openvino/machine.h"
#include "tests/support/scripted_backend.h"

namespace latebind::openvino {
namespace {

using namespace std::chrono_literals;  // NOLINT: as in machine.h
using core::Attestation;
using core::ElementType;
using core::OutputTensor;
using core::StatusCode;
using core::TensorView;
using testing::AllOf;
using testing::HasSubstr;

class FailoverTest : public test::MachineTest {};

// --- At start ---

TEST_F(FailoverTest, AutoTakesTheNpu) {
  ASSERT_TRUE(place().ok());
  const auto answer = ask();
  ASSERT_TRUE(answer.status.ok()) << answer.status.to_string();
  const core::ActiveConfig& active = answer.by->active;
  EXPECT_EQ(active.backend, "openvino");
  EXPECT_EQ(active.device, "NPU");
  EXPECT_EQ(active.device_full_name, "Fake NPU");
  EXPECT_EQ(active.runtime_version, "2026.4.1-fake");
  EXPECT_EQ(active.library_file, fake_.file().string());
  EXPECT_EQ(active.precision, core::Precision::kF32);
  EXPECT_FALSE(answer.by->fallback);
  EXPECT_EQ(answer.by->reason, "");
  EXPECT_EQ(compiles_on("GPU"), 0) << "what is not needed is not compiled";
}

TEST_F(FailoverTest, WithoutAnNpuTheGpuIsNoFallback) {
  fake_.script(test::kGpu + test::kCpu);
  ASSERT_TRUE(place().ok());
  const auto answer = ask();
  EXPECT_EQ(answer.device(), "GPU");
  EXPECT_FALSE(answer.by->fallback);
}

TEST_F(FailoverTest, AnNpuThatCannotCompileLeavesItToTheGpuAndSaysWhy) {
  script("on NPU fail ov_core_compile_model * -1 the compiler crashed\n");
  ASSERT_TRUE(place().ok());
  const auto answer = ask();
  EXPECT_EQ(answer.device(), "GPU");
  EXPECT_TRUE(answer.by->fallback);
  EXPECT_THAT(answer.by->reason, AllOf(HasSubstr("NPU"), HasSubstr("the compiler crashed")));
  ASSERT_EQ(answer.by->steps.size(), 2U);
  EXPECT_EQ(answer.by->steps[0].device, "openvino:NPU");
  EXPECT_FALSE(answer.by->steps[0].taken);
  EXPECT_EQ(answer.by->steps[1].device, "openvino:GPU");
  EXPECT_TRUE(answer.by->steps[1].taken);
}

TEST_F(FailoverTest, AShapeThatOneDeviceCannotCompileGoesToTheNext) {
  script("on NPU fail-compile-shape 4 -1 no tiling for this shape\n");
  ASSERT_TRUE(place().ok());
  const auto answer = ask();
  EXPECT_EQ(answer.device(), "GPU");
  EXPECT_THAT(answer.by->reason, HasSubstr("no tiling for this shape"));
  // Another shape is the NPU's.
  ASSERT_TRUE(place("auto", "input x f32 8\noutput y plus-one 0\n").ok());
  EXPECT_EQ(placed_->attestation()->active.device, "NPU");
}

TEST_F(FailoverTest, ADeviceWithoutThePrecisionIsPassedOverForGoodAndSaysWhy) {
  fake_.script(test::kGpu + test::kCpu + "device NPU\n");  // computes only in f16
  probe_soon();
  ASSERT_TRUE(place().ok());
  const auto answer = ask();
  EXPECT_EQ(answer.device(), "GPU");
  EXPECT_EQ(answer.by->active.precision, core::Precision::kF32);
  EXPECT_THAT(answer.by->reason, AllOf(HasSubstr("NPU"), HasSubstr("f32"), HasSubstr("f16")));
  EXPECT_EQ(compiles_on("NPU"), 1);
  options_.compile.precision = core::Precision::kF16;
  ASSERT_TRUE(place().ok());
  const auto half = ask();
  EXPECT_EQ(half.device(), "NPU");
  EXPECT_EQ(half.by->active.precision, core::Precision::kF16);
}

TEST_F(FailoverTest, AStandbyWithoutThePrecisionIsNotTriedAgainAndAgain) {
  script("on GPU precision f16\non NPU fail run 1 -1 the driver died\n");
  probe_soon();
  ASSERT_TRUE(place().ok());
  const auto answer = ask();
  EXPECT_EQ(answer.device(), "CPU");
  EXPECT_THAT(answer.by->reason, AllOf(HasSubstr("the driver died"), HasSubstr("f16")));
  ASSERT_TRUE(eventually([&] { return !placed_->attestation()->fallback; }));
  EXPECT_EQ(compiles_on("GPU"), 1) << "it can never work: nothing is probed";
}

TEST_F(FailoverTest, StrictRefusesAFallbackAtStart) {
  script("on NPU fail ov_core_compile_model * -1 the compiler crashed\n");
  options_.strict = true;
  const auto status = place();
  EXPECT_EQ(status.code(), StatusCode::kStrictFallback);
  EXPECT_THAT(status.to_string(), AllOf(HasSubstr("NPU"), HasSubstr("the compiler crashed")));
  EXPECT_EQ(compiles_on("GPU"), 0);
}

TEST_F(FailoverTest, TheScriptMayBeNamedByTheEnvironment) {
  const auto file = fake_.folder() / "elsewhere";
  std::ofstream(file) << test::kGpu;
  latebind::test::set_variable("LATEBIND_FAKE_SCRIPT", file.string());
  const auto devices = backend_->devices();
  latebind::test::set_variable("LATEBIND_FAKE_SCRIPT", std::nullopt);
  ASSERT_TRUE(devices.ok());
  ASSERT_EQ(devices->size(), 1U);
  EXPECT_EQ(devices->front().name, "GPU");
}

// --- At noon ---

TEST_F(FailoverTest, ADriverThatDiesAtNoonCostsNoRequest) {
  script("on NPU fail run 2- -1 the driver died\n");
  ASSERT_TRUE(place().ok());
  EXPECT_EQ(ask(1).device(), "NPU");
  const auto answer = ask(2);
  ASSERT_TRUE(answer.status.ok()) << answer.status.to_string();
  EXPECT_EQ(answer.by->active.backend, "openvino");
  EXPECT_EQ(answer.by->active.device, "GPU");
  EXPECT_EQ(answer.by->active.device_full_name, "Fake GPU");
  EXPECT_EQ(answer.by->active.runtime_version, "2026.4.1-fake");
  EXPECT_EQ(answer.by->active.precision, core::Precision::kF32);
  EXPECT_TRUE(answer.by->fallback);
  EXPECT_THAT(answer.by->reason, AllOf(HasSubstr("NPU"), HasSubstr("the driver died")));
  EXPECT_EQ(runs_on("NPU"), 3) << "two requests, and a question whose fault it was";
  EXPECT_EQ(runs_on("GPU"), 1);
  // While it rests nobody asks it.
  EXPECT_EQ(ask(3).device(), "GPU");
  EXPECT_EQ(runs_on("NPU"), 3);
}

TEST_F(FailoverTest, TheSameRequestGoesDownTheWholeLine) {
  script("on NPU fail run * -1 the driver died\non GPU fail run * -1 out of video memory\n");
  ASSERT_TRUE(place().ok());
  const auto answer = ask();
  EXPECT_EQ(answer.device(), "CPU");
  EXPECT_THAT(answer.by->reason, AllOf(HasSubstr("the driver died"), HasSubstr("out of video memory")));
  EXPECT_EQ(answer.by->steps.size(), 3U);
}

TEST_F(FailoverTest, AStandbyThatCannotCompileIsPassedOver) {
  script("on NPU fail run * -1 the driver died\non GPU fail ov_core_compile_model * -1 no such kernel\n");
  ASSERT_TRUE(place().ok());
  const auto answer = ask();
  EXPECT_EQ(answer.device(), "CPU");
  EXPECT_THAT(answer.by->reason, HasSubstr("no such kernel"));
}

TEST_F(FailoverTest, AnotherBackendIsNextInLine) {
  auto second = std::make_shared<latebind::test::ScriptedBackend>("second");
  second->with("CPU", core::DeviceKind::kCpu);
  ASSERT_TRUE(registry_->add(second).ok());
  script("fail run * -1 every driver died\n");
  ASSERT_TRUE(place().ok());
  const auto answer = ask();
  ASSERT_TRUE(answer.status.ok()) << answer.status.to_string();
  EXPECT_EQ(answer.by->active.backend, "second");
  EXPECT_EQ(answer.by->active.device, "CPU");
  EXPECT_THAT(answer.by->reason, HasSubstr("every driver died"));
  EXPECT_EQ(answer.by->steps.size(), 4U);
}

TEST_F(FailoverTest, WhenEveryDeviceFailsTheErrorNamesThemAllAndTheNextRequestTriesAgain) {
  script("fail run * -1 every driver died\n");
  ASSERT_TRUE(place().ok());
  const auto answer = ask();
  EXPECT_EQ(answer.status.code(), StatusCode::kDeviceFailed);
  EXPECT_THAT(answer.status.to_string(), AllOf(HasSubstr("NPU"), HasSubstr("GPU"), HasSubstr("CPU")));
  script();
  EXPECT_EQ(ask().device(), "NPU") << "an error that is certain is worse than a device that may work";
}

TEST_F(FailoverTest, StrictNeverAnswersFromAnotherDeviceAndTakesItsOwnBack) {
  options_.strict = true;
  probe_soon();
  ASSERT_TRUE(place().ok());
  EXPECT_EQ(ask().device(), "NPU");
  script("on NPU fail run * -1 the driver died\n");
  const auto answer = ask();
  EXPECT_EQ(answer.status.code(), StatusCode::kDeviceFailed);
  EXPECT_THAT(answer.status.to_string(), AllOf(HasSubstr("strict"), HasSubstr("the driver died")));
  EXPECT_EQ(compiles_on("GPU"), 0);
  EXPECT_EQ(compiles_on("CPU"), 0);
  script();
  EXPECT_TRUE(eventually([&] { return ask().device() == "NPU"; }));
}

TEST_F(FailoverTest, AWarmStandbyIsCompiledBeforeItIsNeeded) {
  options_.failover.warm_standby = true;
  ASSERT_TRUE(place().ok());
  ASSERT_TRUE(eventually([&] { return compiles_on("GPU") == 1; }));
  script("on NPU fail run * -1 the driver died\n");
  EXPECT_EQ(ask().device(), "GPU");
  EXPECT_EQ(compiles_on("GPU"), 1);
}

// --- And back again ---

TEST_F(FailoverTest, ADeviceThatWorksAgainIsTakenBackAfterARealInference) {
  probe_soon();
  ASSERT_TRUE(place().ok());
  script("on NPU fail run * -1 the driver died\n");
  EXPECT_EQ(ask().device(), "GPU");
  ASSERT_TRUE(eventually([&] { return runs_on("NPU") >= 4; })) << "it is probed, though nobody asks";
  EXPECT_TRUE(placed_->attestation()->fallback);
  const long failed_runs = runs_on("NPU");
  script();
  ASSERT_TRUE(eventually([&] { return !placed_->attestation()->fallback; }));
  EXPECT_GT(runs_on("NPU"), failed_runs);
  const auto answer = ask();
  EXPECT_EQ(answer.device(), "NPU");
  EXPECT_EQ(answer.by->reason, "");
}

TEST_F(FailoverTest, ADeviceThatForgotItsModelGetsItAnew) {
  probe_soon();
  // What is compiled for it makes no more requests that work, until it is compiled anew.
  script("on NPU fail run 1-3 -1 the context was lost\n");
  ASSERT_TRUE(place().ok());
  EXPECT_EQ(ask().device(), "GPU");
  ASSERT_TRUE(eventually([&] { return !placed_->attestation()->fallback; }));
  EXPECT_EQ(compiles_on("NPU"), 2);
  EXPECT_EQ(ask().device(), "NPU");
}

TEST_F(FailoverTest, ADeviceThatCouldNotCompileAtFirstIsProbedWithARequestOfLater) {
  options_.failover.breaker.backoff_first = 200ms;
  options_.failover.breaker.backoff_most = 200ms;
  script("on NPU fail ov_core_compile_model 1 -1 the compiler crashed\non NPU fail run 1-2 -1 not yet\n");
  ASSERT_TRUE(place().ok());
  EXPECT_EQ(ask().device(), "GPU");
  ASSERT_TRUE(eventually([&] { return !placed_->attestation()->fallback; }));
  EXPECT_GE(runs_on("NPU"), 3) << "that it compiles is not enough";
}

TEST_F(FailoverTest, ADeviceThatVanishesIsUsedAgainWhenItIsBack) {
  probe_soon();
  ASSERT_TRUE(place().ok());
  EXPECT_EQ(ask().device(), "NPU");
  fake_.script(test::kGpu + test::kCpu);
  const auto answer = ask();
  EXPECT_EQ(answer.device(), "GPU");
  EXPECT_THAT(answer.by->reason, AllOf(HasSubstr("NPU"), HasSubstr("lost")));
  EXPECT_EQ(backend_->devices()->size(), 2U);
  // A probe finds that it is not even listed.
  ASSERT_TRUE(eventually([&] {
    const auto now = ask();
    return now.by && now.by->reason.find("no device NPU") != std::string::npos;
  }));
  script();
  ASSERT_TRUE(eventually([&] { return ask().device() == "NPU"; }));
  EXPECT_FALSE(placed_->attestation()->fallback);
}

// --- Lies ---

TEST_F(FailoverTest, ADeviceThatIsListedButNotThereIsPassedOver) {
  script("on NPU fail ov_core_compile_model * -1 Device with NPU name is not registered\n");
  ASSERT_TRUE(place().ok());
  EXPECT_EQ(ask().device(), "GPU");
  script("on NPU fail ov_compiled_model_create_infer_request * -1 no such engine\n");
  ASSERT_TRUE(place().ok());
  const auto answer = ask();
  EXPECT_EQ(answer.device(), "GPU");
  EXPECT_THAT(answer.by->reason, HasSubstr("no such engine"));
}

TEST_F(FailoverTest, AWrongNameForPeopleMisleadsNobodyButPeople) {
  script("property NPU FULL_DEVICE_NAME An ordinary CPU\n");
  ASSERT_TRUE(place("npu").ok());
  const auto answer = ask();
  EXPECT_EQ(answer.device(), "NPU");
  EXPECT_EQ(answer.by->active.device_full_name, "An ordinary CPU");
}

TEST_F(FailoverTest, AnAnswerOfAnotherShapeThanDeclaredIsNoAnswer) {
  for (const std::string lie : {"wrong-shape", "wrong-rank"}) {
    script("on NPU " + lie + "\n");
    ASSERT_TRUE(place().ok());
    const auto answer = ask();
    EXPECT_EQ(answer.device(), "GPU") << lie;
    EXPECT_THAT(answer.by->reason, HasSubstr("'y'")) << lie;
  }
}

TEST_F(FailoverTest, AShapeThatCannotBeIsTheDevicesFault) {
  // One dimension more than a tensor may have; shapes that are known after the run only are not compared before.
  script("on GPU wrong-rank\n");
  ASSERT_TRUE(place("gpu,cpu", "input x f32 ?,1,1,1,1,1,1,4\noutput y plus-one 0\n").ok());
  auto x = test::numbers_from(1);
  const TensorView input{x.data(), ElementType::kF32, {1, 1, 1, 1, 1, 1, 1, 4}, {}};
  OutputTensor output;
  std::shared_ptr<const Attestation> by;
  const auto status = placed_->execute({&input, 1}, {&output, 1}, {}, &by);
  ASSERT_TRUE(status.ok()) << status.to_string();
  EXPECT_EQ(by->active.device, "CPU");
  EXPECT_THAT(by->reason, HasSubstr("GPU"));
}

// --- What is not the device's fault ---

TEST_F(FailoverTest, ARequestThatOneDeviceCannotComputeIsAnsweredByTheNextAndRestsNobody) {
  script("on NPU fail run 2 -1 no room for this one\n");
  ASSERT_TRUE(place().ok());
  EXPECT_EQ(ask(1).device(), "NPU");
  const auto answer = ask(2);
  EXPECT_EQ(answer.device(), "GPU");
  EXPECT_THAT(answer.by->reason, AllOf(HasSubstr("NPU"), HasSubstr("no room for this one")));
  EXPECT_EQ(ask(3).device(), "NPU");
  EXPECT_FALSE(placed_->attestation()->fallback);
}

TEST_F(FailoverTest, ARequestThatNoDeviceCanComputeIsTheCallersMistakeAndRestsNobody) {
  script("fail-shape 600 -5 Gather index is out of bounds\n");
  ASSERT_TRUE(place("auto", "input x f32 ?\noutput y plus-one 0\n").ok());
  const auto run = [&](std::int64_t length) {
    std::vector<float> x(static_cast<std::size_t>(length), 7.0F);
    const TensorView input{x.data(), ElementType::kF32, {length}, {}};
    OutputTensor output;
    return placed_->execute({&input, 1}, {&output, 1});
  };
  // The NPU takes no dynamic shapes.
  ASSERT_TRUE(run(4).ok());
  for (int i = 0; i < 3; ++i) {
    const auto status = run(600);
    EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
    EXPECT_EQ(status.vendor_code(), -5);
    EXPECT_THAT(status.to_string(), HasSubstr("Gather index is out of bounds"));
  }
  EXPECT_TRUE(run(4).ok());
  EXPECT_EQ(placed_->attestation()->active.device, "GPU");
  EXPECT_LE(compiles_on("GPU"), 1);
  EXPECT_LE(compiles_on("CPU"), 4) << "a failed run in a dynamic shape costs the CPU one load";
}

TEST_F(FailoverTest, TheCallersMistakesNeverFailOverAndNeverOpenTheBreaker) {
  ASSERT_TRUE(place().ok());
  auto x = test::numbers_from(1);
  OutputTensor output;
  const auto code_of = [&](const TensorView& input, std::size_t inputs = 1) {
    const std::vector<TensorView> all(inputs, input);
    return placed_->execute(all, {&output, 1}).code();
  };
  const TensorView good{x.data(), ElementType::kF32, {4}, {}};
  auto wrong = good;
  wrong.shape = {3};
  EXPECT_EQ(code_of(wrong), StatusCode::kShapeMismatch);
  wrong = good;
  wrong.type = ElementType::kI32;
  EXPECT_EQ(code_of(wrong), StatusCode::kTypeMismatch);
  EXPECT_EQ(code_of(good, 2), StatusCode::kCountMismatch);
  test::Numbers y{};
  auto small = OutputTensor::bound(y.data(), 8);
  EXPECT_EQ(placed_->execute({&good, 1}, {&small, 1}).code(), StatusCode::kBufferTooSmall);
  EXPECT_EQ(placed_->execute({&good, 1}, {}).code(), StatusCode::kCountMismatch);
  const auto answer = ask();
  EXPECT_EQ(answer.device(), "NPU");
  EXPECT_FALSE(answer.by->fallback);
  EXPECT_EQ(compiles_on("GPU"), 0);
}

}  // namespace
}  // namespace latebind::openvino
