#include "core/placement/placement.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "tests/support/scripted_backend.h"

namespace latebind::core {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class PlacementTest : public ::testing::Test {
 protected:
  void SetUp() override {
    first = std::make_shared<test::ScriptedBackend>("first");
    second = std::make_shared<test::ScriptedBackend>("second");
    first->with("CPU", DeviceKind::kCpu).with("NPU", DeviceKind::kNpu).with("GPU", DeviceKind::kGpu);
    second->with("CPU", DeviceKind::kCpu).with("NPU", DeviceKind::kNpu);
    ASSERT_TRUE(registry.add(first).ok());
    ASSERT_TRUE(registry.add(second).ok());
  }

  // Candidates as words: a device's id, or "!name" for a refusal.
  std::vector<std::string> resolved(std::string_view text) {
    auto placement = Placement::parse(text, registry);
    EXPECT_TRUE(placement.ok()) << placement.status().to_string();
    std::vector<std::string> names;
    for (const auto& candidate : placement->resolve(registry)) {
      names.push_back(candidate.device ? candidate.device->id() : "!" + candidate.refusal.device);
    }
    return names;
  }

  Registry registry;
  std::shared_ptr<test::ScriptedBackend> first;
  std::shared_ptr<test::ScriptedBackend> second;
};

TEST_F(PlacementTest, AutoMeansNpuThenGpuThenCpuInTheRegistrysOrder) {
  EXPECT_THAT(resolved("auto"), ElementsAre("first:NPU", "second:NPU", "first:GPU", "first:CPU", "second:CPU"));
}

TEST_F(PlacementTest, KindsFollowTheOrderTheyAreWrittenInAndNothingComesTwice) {
  EXPECT_THAT(resolved("cpu,npu,cpu"), ElementsAre("first:CPU", "second:CPU", "first:NPU", "second:NPU"));
  EXPECT_THAT(resolved(" npu , cpu "), ElementsAre("first:NPU", "second:NPU", "first:CPU", "second:CPU"));
}

TEST_F(PlacementTest, ABackendsNameMeansItsDevicesBestFirst) {
  EXPECT_THAT(resolved("second"), ElementsAre("second:NPU", "second:CPU"));
}

TEST_F(PlacementTest, APartThatCannotBeUsedIsNoDeviceAndGivesItsReasonWhenItIsNamed) {
  class WithAPart : public test::ScriptedBackend {
   public:
    using ScriptedBackend::ScriptedBackend;
    BackendDiagnosis diagnosis(const Result<std::vector<Device>>* /*devices*/) override {
      return {.unavailable = {{"PLUGIN", "it only compiles"}}};
    }
  };
  auto third = std::make_shared<WithAPart>("third");
  third->with("CPU", DeviceKind::kCpu);
  ASSERT_TRUE(registry.add(third).ok());
  EXPECT_THAT(resolved("third"), ElementsAre("third:CPU"));
  const auto named = Placement::parse("third:PLUGIN", registry)->resolve(registry);
  ASSERT_EQ(named.size(), 1U);
  EXPECT_EQ(named[0].refusal.device, "third:PLUGIN");
  EXPECT_THAT(named[0].refusal.reason, HasSubstr("it only compiles"));
}

TEST_F(PlacementTest, AnExactDeviceAsksOnlyItsOwnBackend) {
  EXPECT_THAT(resolved("second:CPU"), ElementsAre("second:CPU"));
  EXPECT_EQ(first->questions, 0);
}

TEST_F(PlacementTest, ADeviceThatIsNotThereIsARefusalThatNamesThosePresent) {
  auto placement = Placement::parse("second:NPU.9", registry);
  const auto candidates = placement->resolve(registry);
  ASSERT_EQ(candidates.size(), 1U);
  EXPECT_FALSE(candidates[0].device);
  EXPECT_THAT(candidates[0].refusal.reason, HasSubstr("second:CPU, second:NPU"));
}

TEST_F(PlacementTest, AMissingKindIsARefusalOnlyWhenItWasNamed) {
  first->present.clear();
  second->present.clear();
  second->with("CPU", DeviceKind::kCpu);
  EXPECT_THAT(resolved("npu,cpu"), ElementsAre("!npu", "second:CPU"));
  EXPECT_THAT(resolved("auto"), ElementsAre("second:CPU"));
}

TEST_F(PlacementTest, AnUnavailableBackendStandsBeforeTheDevicesOfLaterBackends) {
  first->availability = Status(StatusCode::kLibraryNotFound, "gone");
  EXPECT_THAT(resolved("cpu"), ElementsAre("!first", "second:CPU"));
  first->availability = {};
  second->availability = Status(StatusCode::kLibraryNotFound, "gone");
  EXPECT_THAT(resolved("auto"), ElementsAre("first:NPU", "first:GPU", "first:CPU", "!second"));
}

TEST_F(PlacementTest, ABackendThatItsSettingKeepsBackStandsWhereItsDeviceWould) {
  second->availability = Status(StatusCode::kUnsupported, "not on this processor");
  second->kept_back = Device{"second", "CPU", DeviceKind::kCpu, "", "", {.preferred_in = {Precision::kF32}}};
  EXPECT_THAT(resolved("auto"), ElementsAre("first:NPU", "first:GPU", "!second", "first:CPU"));
  EXPECT_THAT(resolved("cpu"), ElementsAre("!second", "first:CPU"));
  EXPECT_THAT(resolved("first,auto"), ElementsAre("first:NPU", "first:GPU", "first:CPU", "!second"));
  EXPECT_THAT(resolved("npu"), ElementsAre("first:NPU", "!second"));
  EXPECT_THAT(resolved("second"), ElementsAre("!second"));
  // Where it would not be preferred, the first one answers before it as it would with it.
  second->kept_back->traits.preferred_in = {Precision::kInt8};
  EXPECT_THAT(resolved("auto"), ElementsAre("first:NPU", "first:GPU", "first:CPU", "!second"));
  EXPECT_THAT(resolved("cpu"), ElementsAre("first:CPU", "!second"));
  // And before one that comes later.
  first->availability = Status(StatusCode::kUnsupported, "not on this processor");
  first->kept_back = Device{"first", "CPU", DeviceKind::kCpu, "", ""};
  second->availability = {};
  EXPECT_THAT(resolved("cpu"), ElementsAre("!first", "second:CPU"));
}

TEST_F(PlacementTest, APreferredDeviceComesBeforeTheOthersOfItsKind) {
  second->present.front().traits.preferred_in = {Precision::kBF16, Precision::kF32};
  EXPECT_THAT(resolved("auto"), ElementsAre("first:NPU", "second:NPU", "first:GPU", "second:CPU", "first:CPU"));
  EXPECT_THAT(resolved("first,auto"), ElementsAre("first:NPU", "first:GPU", "first:CPU", "second:NPU", "second:CPU"));
  const auto any = Placement::parse("cpu", registry)->resolve(registry, false, [](const Device&) { return false; });
  EXPECT_EQ(any.front().device->id(), "first:CPU");
}

TEST_F(PlacementTest, AnAbsentLibraryThatNobodyExpectsIsNoNewsBesideADeviceThatNeedsNone) {
  second->present.front().traits.graphs_only = true;
  first->availability = Status(StatusCode::kLibraryNotFound, "not installed");
  EXPECT_THAT(resolved("cpu"), ElementsAre("second:CPU", "!first"));
  first->is_expected = true;
  EXPECT_THAT(resolved("cpu"), ElementsAre("!first", "second:CPU"));
  first->is_expected = false;
  first->availability = Status(StatusCode::kLibraryUnusable, "damaged");
  EXPECT_THAT(resolved("cpu"), ElementsAre("!first", "second:CPU"));
}

TEST_F(PlacementTest, WhatToTypeForADeviceIsForTheOneThatIsNamed) {
  first->availability = Status(StatusCode::kLibraryNotFound, "not here: install first").with_details("looked there");
  first->reasons = {{"GPU", "not here: install first and its GPU part"}};
  const auto refusal = [&](const char* text) {
    return Placement::parse(text, registry)->resolve(registry).front().refusal;
  };
  EXPECT_EQ(refusal("first:GPU").reason, "not here: install first and its GPU part");
  EXPECT_EQ(refusal("first:GPU").details, "looked there");
  EXPECT_EQ(refusal("first:NPU").reason, "not here: install first");
  EXPECT_EQ(refusal("first").reason, "not here: install first");
  // One that is there and broken has a reason of its own.
  first->availability = Status(StatusCode::kLibraryUnusable, "damaged");
  EXPECT_EQ(refusal("first:GPU").reason, "damaged");
}

TEST_F(PlacementTest, APreferredDeviceIsNoSecondChoiceToWhatWouldNotHaveAnsweredFirst) {
  const auto third = std::make_shared<test::ScriptedBackend>("third");
  third->with("CPU", DeviceKind::kCpu);
  third->present.front().traits.preferred_in = {Precision::kF32};
  ASSERT_TRUE(registry.add(third).ok());
  second->availability = Status(StatusCode::kLibraryUnusable, "damaged");
  // Without the third one, the first one would have answered, and the second would not have been missed.
  EXPECT_THAT(resolved("cpu"), ElementsAre("third:CPU", "first:CPU", "!second"));
  first->availability = Status(StatusCode::kLibraryUnusable, "damaged");
  EXPECT_THAT(resolved("cpu"), ElementsAre("!first", "!second", "third:CPU"));
  second->availability = {};
  EXPECT_THAT(resolved("cpu"), ElementsAre("!first", "third:CPU", "second:CPU"));
}

TEST_F(PlacementTest, VirtualDevicesAreNeverCandidates) {
  first->present.clear();
  first->with("NPU.v9", DeviceKind::kNpu, true);
  second->present.clear();
  EXPECT_THAT(resolved("auto"), IsEmpty());
}

class VirtualPlacementTest : public PlacementTest {
 protected:
  void SetUp() override {
    PlacementTest::SetUp();
    first->absent = {
        device("NPU.v8", {.compiler = TargetCompiler::kInstalled, .is_emulated = true}),
        device("NPU.v9", {.compiler = TargetCompiler::kMissing, .missing = "a compiler: buy one"}),
        device("NPU.v10", {}),
    };
  }
  static Device device(std::string name, VirtualTraits traits) {
    return {
        "first", std::move(name), DeviceKind::kNpu, "a scripted device", "1.0", {.virtual_device = std::move(traits)}};
  }
  Placement::Candidate only(std::string_view text, bool emulate) {
    const auto placement = Placement::parse(text, registry);
    EXPECT_TRUE(placement.ok());
    auto candidates = placement->resolve(registry, emulate);
    EXPECT_EQ(candidates.size(), 1U);
    return std::move(candidates.at(0));
  }
};

TEST_F(VirtualPlacementTest, OneThatIsNamedRunsInEmulationWhenThatIsAllowed) {
  const auto candidate = only("first:NPU.v8", true);
  ASSERT_TRUE(candidate.device.has_value());
  EXPECT_EQ(candidate.device->id(), "first:NPU.v8");
  const auto refused = only("first:NPU.v8", false);
  EXPECT_FALSE(refused.device.has_value());
  EXPECT_EQ(refused.refusal.reason, "is not in this machine; --emulate runs it in its vendor's emulator");
}

TEST_F(VirtualPlacementTest, OneThatCannotBeEmulatedSaysWhy) {
  EXPECT_THAT(only("first:NPU.v9", true).refusal.reason,
              HasSubstr("its compiler is not installed: a compiler: buy one"));
  EXPECT_THAT(only("first:NPU.v10", true).refusal.reason, HasSubstr("has no emulator for this machine"));
}

TEST_F(VirtualPlacementTest, NoWordButItsNameMeansIt) {
  for (const char* text : {"auto", "npu", "first"}) {
    const auto placement = Placement::parse(text, registry);
    ASSERT_TRUE(placement.ok());
    for (const auto& candidate : placement->resolve(registry, true)) {
      EXPECT_FALSE(candidate.device && candidate.device->is_virtual()) << text;
    }
  }
}

TEST_F(VirtualPlacementTest, ANameThatNobodyHasIsAnsweredWithTheVirtualOnes) {
  EXPECT_THAT(only("first:NPU.v11", true).refusal.reason,
              HasSubstr("virtual devices, to compile for, are first:NPU.v8, first:NPU.v9, first:NPU.v10"));
}

TEST_F(PlacementTest, DevicesOfUnrankedKindsMustBeNamed) {
  first->present.clear();
  first->with("DSP", DeviceKind::kOther);
  second->present.clear();
  EXPECT_THAT(resolved("auto"), IsEmpty());
  EXPECT_THAT(resolved("first"), ElementsAre("first:DSP"));
}

TEST_F(PlacementTest, TyposAreRefusedWithASuggestion) {
  const auto refused = Placement::parse("nup", registry);
  ASSERT_FALSE(refused.ok());
  EXPECT_THAT(refused.status().to_string(), HasSubstr("did you mean npu?"));
  EXPECT_THAT(Placement::parse("frist:CPU", registry).status().to_string(), HasSubstr("did you mean first?"));
  for (const char* bad : {"", ",", "auto,", "first:", ":CPU"}) {
    EXPECT_FALSE(Placement::parse(bad, registry).ok()) << bad;
  }
  EXPECT_FALSE(Placement::parse(std::string(5000, 'a'), registry).ok());
}

TEST(RegistryTest, RefusesANameTwice) {
  Registry registry;
  EXPECT_TRUE(registry.add(std::make_shared<test::ScriptedBackend>("one")).ok());
  EXPECT_FALSE(registry.add(std::make_shared<test::ScriptedBackend>("one")).ok());
  EXPECT_FALSE(registry.add(nullptr).ok());
  EXPECT_EQ(registry.find("two"), nullptr);
}

}  // namespace
}  // namespace latebind::core
