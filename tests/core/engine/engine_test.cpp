#include "core/engine/engine.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "kit/networks/small_encoder.h"
#include "tests/support/latch.h"
#include "tests/support/scripted_backend.h"

namespace latebind::core {
namespace {

using ::testing::HasSubstr;

class EngineTest : public ::testing::Test {
 protected:
  void SetUp() override {
    first = std::make_shared<test::ScriptedBackend>("first");
    second = std::make_shared<test::ScriptedBackend>("second");
    first->with("CPU", DeviceKind::kCpu);
    second->with("CPU", DeviceKind::kCpu);
    ASSERT_TRUE(registry.add(first).ok());
    ASSERT_TRUE(registry.add(second).ok());
  }

  Result<std::shared_ptr<PlacedModel>> load(std::string_view placement, bool strict = false) {
    LoadOptions options;
    options.strict = strict;
    return load(placement, options);
  }
  Result<std::shared_ptr<PlacedModel>> load(std::string_view placement, const LoadOptions& options) {
    return Engine(registry).load(model, *Placement::parse(placement, registry), options);
  }

  Registry registry;
  Model model = Model::from_forms("a model", {ModelForm{}});
  std::shared_ptr<test::ScriptedBackend> first;
  std::shared_ptr<test::ScriptedBackend> second;
};

TEST_F(EngineTest, TheFirstDeviceThatWorksIsNoFallback) {
  const auto placed = load("auto");
  ASSERT_TRUE(placed.ok()) << placed.status().to_string();
  const auto attestation = (*placed)->attestation();
  EXPECT_EQ(attestation->active.backend, "first");
  EXPECT_FALSE(attestation->fallback);
  EXPECT_EQ(attestation->reason, "");
  EXPECT_EQ(second->loads, 0);
}

TEST_F(EngineTest, AFailedLoadFallsBackAndSaysWhyInOneLine) {
  first->load_failures["CPU"] = Status::from_vendor(StatusCode::kDeviceFailed, "compiling failed", -1, "boom");
  const auto placed = load("auto");
  ASSERT_TRUE(placed.ok());
  const auto attestation = (*placed)->attestation();
  EXPECT_EQ(attestation->active.backend, "second");
  EXPECT_TRUE(attestation->fallback);
  EXPECT_THAT(attestation->reason, HasSubstr("using second:CPU, because first:CPU: compiling failed"));
  EXPECT_THAT(attestation->reason, HasSubstr("boom"));
  ASSERT_EQ(attestation->steps.size(), 2U);
  EXPECT_FALSE(attestation->steps[0].taken);
  EXPECT_TRUE(attestation->steps[1].taken);
}

TEST_F(EngineTest, EachDeviceIsAskedForEveryPrecisionOfTheListInTurn) {
  first->with("NPU", DeviceKind::kNpu);
  first->only_precision["NPU"] = Precision::kF16;
  first->only_precision["CPU"] = Precision::kF32;
  LoadOptions options;
  options.compile.precision = Precision::kF16;
  options.other_precisions = {Precision::kF32};
  const auto by = [&](std::string_view placement) {
    const auto placed = Engine(registry).load(model, *Placement::parse(placement, registry), options);
    return placed.ok() ? (*placed)->attestation()->active : ActiveConfig{};
  };
  EXPECT_EQ(by("first:NPU,first:CPU").device, "NPU");
  EXPECT_EQ(by("first:NPU,first:CPU").precision, Precision::kF16);
  EXPECT_EQ(by("first:CPU").precision, Precision::kF32);
  // Without the list, f32 is nothing for this NPU.
  options.compile.precision = Precision::kF32;
  options.other_precisions.clear();
  EXPECT_EQ(by("first:NPU,first:CPU").device, "CPU");
}

TEST_F(EngineTest, APreferredDeviceComesFirstForWhatItCanComputeAlone) {
  second->present.front().traits = {.precisions = {Precision::kF32, Precision::kBF16},
                                    .graphs_only = true,
                                    .preferred_in = {Precision::kF32, Precision::kInt8, Precision::kFast}};
  const auto by = [&](const LoadOptions& options) {
    const auto placed = load("auto", options);
    if (!placed.ok()) return placed.status().to_string();
    const auto attestation = (*placed)->attestation();
    return attestation->active.backend + (attestation->fallback ? ", a fallback" : "");
  };
  // From a file: it says nothing about the model, and the other one is no fallback.
  EXPECT_EQ(by({}), "first");
  model = Model::from_graph("a graph", {.graph = std::make_shared<const graph::Graph>(*kit::small_graph())});
  EXPECT_EQ(by({}), "second");
  EXPECT_EQ(by({.compile = {.precision = Precision::kBF16}}), "first");
  EXPECT_EQ(by({.compile = {.precision = Precision::kFast}}), "second");
  EXPECT_EQ(by({.compile = {.precision = Precision::kF16}}), "first");
  EXPECT_EQ(by({.compile = {.input_shapes = {{1, 8}, {1, 8}}}}), "first");
  EXPECT_EQ(by({.compile = {.properties = {{"KEY", "1"}}}}), "first");
  EXPECT_EQ(by({.strict = true, .shapes = ShapeMode::kStaticShapes}), "first");
  const auto is_preferred = [&](const ModelKind& kind, Precision precision) {
    return preference_for(kind, {.compile = {.precision = precision}})(second->present.front());
  };
  EXPECT_TRUE(is_preferred({.has_graph = true}, Precision::kF32));
  EXPECT_FALSE(is_preferred({.has_graph = true}, Precision::kBF16));
  EXPECT_FALSE(is_preferred({.has_graph = false}, Precision::kF32));
  // Blobs may be of others, but not in what these refuse.
  EXPECT_FALSE(is_preferred({.has_graph = true, .has_blobs = true}, Precision::kF32));
  EXPECT_TRUE(is_preferred({.has_graph = true, .has_blobs = true}, Precision::kFast));
  // Nobody misses a library that was never there.
  second->present.front().traits.preferred_in.clear();
  EXPECT_EQ(by({}), "first");
  first->availability = Status(StatusCode::kLibraryNotFound, "pip install first");
  EXPECT_EQ(by({.strict = true}), "second");
  first->is_expected = true;
  EXPECT_EQ(by({}), "second, a fallback");
}

TEST_F(EngineTest, AMissingBackendIsAFallbackToo) {
  first->availability = Status(StatusCode::kLibraryNotFound, "not installed: pip install first");
  const auto placed = load("auto");
  ASSERT_TRUE(placed.ok());
  EXPECT_TRUE((*placed)->attestation()->fallback);
  EXPECT_THAT((*placed)->attestation()->reason, HasSubstr("pip install first"));
}

TEST_F(EngineTest, StrictTurnsAFallbackIntoAnErrorBeforeAnythingElseIsLoaded) {
  first->load_failures["CPU"] = Status(StatusCode::kDeviceFailed, "boom");
  const auto placed = load("auto", true);
  ASSERT_FALSE(placed.ok());
  EXPECT_EQ(placed.status().code(), StatusCode::kStrictFallback);
  EXPECT_THAT(placed.status().to_string(), HasSubstr("boom"));
  EXPECT_EQ(second->loads, 0);
  first->load_failures.clear();
  EXPECT_TRUE(load("auto", true).ok());
}

TEST_F(EngineTest, WhenNothingWorksEveryReasonIsListed) {
  first->availability = Status(StatusCode::kLibraryNotFound, "pip install first");
  second->load_failures["CPU"] = Status(StatusCode::kDeviceFailed, "no power");
  const auto placed = load("auto");
  ASSERT_FALSE(placed.ok());
  EXPECT_EQ(placed.status().code(), StatusCode::kNoDevice);
  EXPECT_THAT(placed.status().to_string(), HasSubstr("pip install first"));
  EXPECT_THAT(placed.status().to_string(), HasSubstr("second:CPU: no power"));
}

TEST_F(EngineTest, AModelThatEveryDeviceCallsInvalidIsInvalid) {
  first->load_failures["CPU"] = Status(StatusCode::kInvalidModel, "garbage");
  second->load_failures["CPU"] = Status(StatusCode::kInvalidModel, "rubbish");
  EXPECT_EQ(load("auto").status().code(), StatusCode::kInvalidModel);
  second->load_failures["CPU"] = Status(StatusCode::kDeviceFailed, "no power");
  EXPECT_EQ(load("auto").status().code(), StatusCode::kNoDevice);
}

TEST_F(EngineTest, ThePlacedModelOutlivesEngineAndRegistry) {
  std::shared_ptr<PlacedModel> placed;
  {
    Registry short_lived;
    ASSERT_TRUE(short_lived.add(first).ok());
    placed = *Engine(short_lived).load(model, *Placement::parse("auto", short_lived), {});
  }
  float x[2] = {1, 2};
  const TensorView input{x, ElementType::kF32, {2}, {}};
  OutputTensor output;
  ASSERT_TRUE(placed->execute({&input, 1}, {&output, 1}).ok());
  EXPECT_EQ(static_cast<const float*>(output.view().data)[1], 3.0F);
}

TEST_F(EngineTest, InputsAreRefusedByName) {
  const auto placed = load("auto");
  float x[2] = {1, 2};
  OutputTensor output;
  TensorView input{x, ElementType::kF64, {2}, {}};
  EXPECT_THAT((*placed)->execute({&input, 1}, {&output, 1}).to_string(),
              HasSubstr("input 'x' (position 0) takes f32, but f64"));
  input = {x, ElementType::kF32, {1, 2}, {}};
  EXPECT_THAT((*placed)->execute({&input, 1}, {&output, 1}).to_string(), HasSubstr("takes shape [?], but [1,2]"));
  EXPECT_THAT((*placed)->execute({}, {&output, 1}).to_string(), HasSubstr("takes 1 inputs (x), but 0 were given"));
  input = {nullptr, ElementType::kF32, {2}, {}};
  EXPECT_THAT((*placed)->execute({&input, 1}, {&output, 1}).to_string(), HasSubstr("has no data"));
}

TEST_F(EngineTest, ACancellationEndsALoadWhileABackendIsAskedForItsDevices) {
  const auto gate = std::make_shared<test::Latch>(1);
  LoadOptions options;
  options.cancellation = Cancellation::create();
  first->device_script = [gate, cancellation = options.cancellation] {
    cancellation.request();
    gate->wait();
  };
  EXPECT_EQ(load("auto", options).status().code(), StatusCode::kCancelled);
  gate->count_down();
}

TEST_F(EngineTest, ABackendThatDoesNotSayWhichDevicesItHasIsPassedOverAtTheLoadTimeout) {
  const auto gate = std::make_shared<test::Latch>(1);
  first->device_script = [gate] { gate->wait(); };
  LoadOptions options;
  options.failover.load_timeout = std::chrono::milliseconds(500);  // of the second one, too
  const auto placed = load("auto", options);
  gate->count_down();
  ASSERT_TRUE(placed.ok()) << placed.status().to_string();
  EXPECT_EQ((*placed)->attestation()->active.backend, "second");
  EXPECT_THAT((*placed)->attestation()->reason, HasSubstr("asking for its devices: hung: first did not finish"));
}

TEST_F(EngineTest, ReportsWhyABackendIsNotAvailable) {
  first->availability = Status(StatusCode::kLibraryNotFound, "gone");
  const auto reports = Engine(registry).report();
  ASSERT_EQ(reports.size(), 2U);
  EXPECT_EQ(reports[0].status.message(), "gone");
  EXPECT_EQ(reports[1].devices.size(), 1U);
  EXPECT_EQ(reports[1].runtime_version, "1.0");
}

}  // namespace
}  // namespace latebind::core
