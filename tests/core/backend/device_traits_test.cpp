#include "core/backend/device_traits.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "core/backend/device.h"

namespace latebind::core {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;

TEST(DeviceTraitsTest, ReportsHaveTheTraitsThatAreSetBesideTheMetadata) {
  Device device{"toy", "CPU", DeviceKind::kCpu, "a processor", "1.0"};
  EXPECT_THAT(device.facts(), IsEmpty());
  device.traits = {.precisions = {Precision::kF32, Precision::kInt8},
                   .graphs_only = true,
                   .preferred_in = {Precision::kInt8, Precision::kFast},
                   .preferred_because = "it is faster",
                   .architecture = "toy64",
                   .provider = "ToyProvider",
                   .pci_id = "8086:46a6"};
  device.metadata["Driver"] = "toy.ko";
  EXPECT_THAT(device.facts(), ElementsAre(Pair("Architecture", "toy64"), Pair("Driver", "toy.ko"),
                                          Pair("GraphsOnly", "1"), Pair("PciId", "8086:46a6"),
                                          Pair("Precisions", "f32,int8"), Pair("PreferredBecause", "it is faster"),
                                          Pair("PreferredIn", "int8,fast"), Pair("Provider", "ToyProvider")));
  for (const auto& [word, text] : texts_of(device.traits, device.backend))
    EXPECT_TRUE(is_trait_word(word)) << word;
  EXPECT_FALSE(is_trait_word("Driver"));
  EXPECT_FALSE(is_trait_word(""));
}

TEST(DeviceTraitsTest, AVirtualDeviceReportsItsCompilerAndItsEmulator) {
  Device device{"toy", "NPU.v1", DeviceKind::kNpu, "an NPU", "1.0"};
  EXPECT_FALSE(device.is_virtual());
  VirtualTraits& traits = device.traits.virtual_device.emplace();
  EXPECT_TRUE(device.is_virtual());
  EXPECT_THAT(device.facts(), ElementsAre(Pair("DiscoveredBy", "toy"), Pair("IsVirtual", "1")));
  traits = {.compiler = TargetCompiler::kMissing, .missing = "libtoyc.so"};
  EXPECT_THAT(device.facts(),
              ElementsAre(Pair("CompilerInstalled", "0"), Pair("DiscoveredBy", "toy"), Pair("Emulated", "0"),
                          Pair("IsVirtual", "1"), Pair("Missing", "libtoyc.so")));
  traits = {.compiler = TargetCompiler::kInstalled, .is_emulated = true};
  EXPECT_THAT(device.facts(), ElementsAre(Pair("CompilerInstalled", "1"), Pair("DiscoveredBy", "toy"),
                                          Pair("Emulated", "1"), Pair("IsVirtual", "1")));
  for (const auto& [word, text] : device.facts())
    EXPECT_TRUE(is_trait_word(word)) << word;
}

TEST(DeviceTraitsTest, PrecisionsAreKnownByTheirLists) {
  const DeviceTraits traits{.precisions = {Precision::kF16}, .preferred_in = {Precision::kFast}};
  EXPECT_TRUE(traits.computes_in(Precision::kF16));
  EXPECT_FALSE(traits.computes_in(Precision::kF32));
  EXPECT_TRUE(traits.is_preferred_in(Precision::kFast));
  EXPECT_FALSE(traits.is_preferred_in(Precision::kF16));
  EXPECT_EQ(words_of({}), "");
}

TEST(DeviceTraitsTest, OnlyAnArchitectureOfOneWordIsPartOfTheTarget) {
  Device device{"toy", "GPU", DeviceKind::kGpu, "a GPU", "1.0", {.architecture = "v12.55.8"}};
  EXPECT_EQ(device.target(), "gpu:v12.55.8");
  device.traits.architecture = "GPU: vendor=0x8086";
  EXPECT_EQ(device.target(), "gpu");
  device.kind = DeviceKind::kCpu;
  device.traits.architecture = "x64";
  EXPECT_EQ(device.target(), "cpu");
}

}  // namespace
}  // namespace latebind::core
