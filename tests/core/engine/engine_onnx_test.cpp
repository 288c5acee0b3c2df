// What the engine makes of a backend's table of known errors.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "core/engine/engine.h"
#include "tests/support/onnx_builder.h"
#include "tests/support/scripted_backend.h"

namespace latebind::core {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

class EngineOnnxTest : public ::testing::Test {
 protected:
  void SetUp() override {
    first = std::make_shared<test::ScriptedBackend>("first");
    second = std::make_shared<test::ScriptedBackend>("second");
    first->with("CPU", DeviceKind::kCpu);
    second->with("CPU", DeviceKind::kCpu);
    second->wrong["CPU"] = 1;
    first->wrong["CPU"] = 100;  // so that it is seen which one answered
    ASSERT_TRUE(registry.add(first).ok());
    ASSERT_TRUE(registry.add(second).ok());
  }

  Result<std::shared_ptr<PlacedModel>> load(bool strict = false) {
    LoadOptions options;
    options.strict = strict;
    return Engine(registry).load(model, *Placement::parse(strict ? "first:CPU" : "auto", registry), options);
  }
  // The result and why first does not give it.
  std::pair<std::string, std::string> run(PlacedModel& placed, float number) {
    TensorView view;
    view.data = &number;
    view.shape = {1};
    std::vector<OutputTensor> outputs(1);
    std::shared_ptr<const Attestation> attestation;
    const Status status = placed.execute(std::span(&view, 1), outputs, {}, &attestation);
    if (!status.ok()) return {status.to_string(), ""};
    std::string why;
    for (const PlacementStep& step : attestation->steps)
      why += step.taken ? "" : step.reason;
    return {std::to_string(static_cast<long long>(*static_cast<const float*>(outputs[0].view().data))), why};
  }

  Registry registry;
  Model model = test::OnnxBuilder()
                    .input("x", ElementType::kF32, {"n"})
                    .node("Exp", {"x"}, {"y"})
                    .output("y", ElementType::kF32, {"n"})
                    .model();
  std::shared_ptr<test::ScriptedBackend> first;
  std::shared_ptr<test::ScriptedBackend> second;
};

TEST_F(EngineOnnxTest, AModelWithANodeThatADeviceComputesOtherwiseGoesToTheNextAndSaysWhy) {
  first->errors = "Exp\t\tfirst 1.0\n";
  const auto placed = load();
  ASSERT_TRUE(placed.ok()) << placed.status().to_string();
  const auto attestation = (*placed)->attestation();
  EXPECT_EQ(attestation->active.backend, "second");
  EXPECT_TRUE(attestation->fallback);
  EXPECT_THAT(attestation->reason, HasSubstr("first:CPU does not compute test as ONNX defines it: Exp 'Exp_0' is "
                                             "computed differently from ONNX by first 1.0"));
  EXPECT_EQ(first->loads, 0);
  const auto strict = load(true);
  ASSERT_FALSE(strict.ok());
  EXPECT_THAT(strict.status().to_string(), HasSubstr("Exp 'Exp_0' is computed differently"));
}

TEST_F(EngineOnnxTest, NumbersOutOfBoundsAreAnsweredByTheNextDeviceWithoutBlame) {
  first->errors = "Exp\tmay:nan\tfirst 1.0\n";
  const auto placed = load();
  ASSERT_TRUE(placed.ok()) << placed.status().to_string();
  EXPECT_EQ((*placed)->attestation()->active.backend, "first");
  EXPECT_EQ(run(**placed, 1), std::pair(std::string("101"), std::string()));
  for (unsigned i = 0; i < 20; ++i) {
    const auto [result, why] = run(**placed, 4e18F);
    EXPECT_EQ(result, "3999999937226997760");
    EXPECT_THAT(why, AllOf(HasSubstr("input 'x' has 4e+18 as element 0"), HasSubstr("first:CPU")));
  }
  // It is asked first as before.
  EXPECT_EQ(run(**placed, 2).first, "102");
  EXPECT_EQ((*placed)->attestation()->active.backend, "first");
  EXPECT_FALSE((*placed)->attestation()->fallback);
}

TEST_F(EngineOnnxTest, WithoutAnotherDeviceNumbersOutOfBoundsAreAnError) {
  first->errors = "Exp\tmay:nan\tfirst 1.0\n";
  const auto placed = load(true);
  ASSERT_TRUE(placed.ok()) << placed.status().to_string();
  EXPECT_EQ(run(**placed, 1).first, "101");
  EXPECT_THAT(run(**placed, std::nanf("")).first, HasSubstr("input 'x' has nan as element 0"));
  EXPECT_EQ(run(**placed, 2).first, "102");
}

TEST_F(EngineOnnxTest, ATableThatMakesNoSenseIsNamedAndAnotherVersionsTableIsNot) {
  first->errors = "Exp\tsometimes\tfirst 1.0\n";
  const auto placed = load();
  ASSERT_TRUE(placed.ok()) << placed.status().to_string();
  EXPECT_THAT((*placed)->attestation()->reason, HasSubstr("line 1: 'Exp sometimes"));
  first->errors = "Exp\t\tsecond 1.0\n";
  const auto other = load();
  ASSERT_TRUE(other.ok());
  EXPECT_EQ((*other)->attestation()->active.backend, "first");
}

TEST_F(EngineOnnxTest, PortsHaveTheModelsNamesWhateverAVendorCallsThem) {
  model = test::OnnxBuilder()
              .input("tokens", ElementType::kF32, {"n"})
              .node("Exp", {"tokens"}, {"scores"})
              .output("scores", ElementType::kF32, {"n"})
              .model();
  const auto placed = load();  // the backend calls them x and y
  ASSERT_TRUE(placed.ok()) << placed.status().to_string();
  EXPECT_EQ((*placed)->inputs()[0].name, "tokens");
  EXPECT_EQ((*placed)->outputs()[0].name, "scores");
  EXPECT_EQ(run(**placed, 1).first, "101");
  // One output more than the backend has: nothing says which is which.
  model = test::OnnxBuilder()
              .input("tokens", ElementType::kF32, {"n"})
              .node("Exp", {"tokens"}, {"scores"})
              .output("scores", ElementType::kF32, {"n"})
              .output("tokens", ElementType::kF32, {"n"})
              .model();
  const auto other = load();
  ASSERT_TRUE(other.ok()) << other.status().to_string();
  EXPECT_EQ((*other)->outputs()[0].name, "y");
}

}  // namespace
}  // namespace latebind::core
