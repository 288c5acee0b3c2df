#include "backends/onnxruntime/targets.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

namespace latebind::onnxruntime {
namespace {

using core::Status;
using core::StatusCode;
using core::System;
using testing::AllOf;
using testing::Contains;
using testing::HasSubstr;
using testing::Pair;

TEST(OnnxruntimeTargetsTest, AnArchitectureIsFoundByTheDevicesName) {
  const auto found = find_target("QNN.v73");
  ASSERT_TRUE(found.ok());
  ASSERT_NE(found->target, nullptr);
  EXPECT_EQ(found->provider->provider, "QNNExecutionProvider");
  EXPECT_EQ(found->target->htp_arch, 73U);
  EXPECT_EQ(found->target->soc_model, 60U);
  EXPECT_EQ(device_name(*found), "QNN.v73");
}

TEST(OnnxruntimeTargetsTest, AnUnknownArchitectureIsRefusedWithTheKnownOnes) {
  for (const char* name : {"QNN.v99", "QNN.v7", "QNN.v", "QNN.v731"}) {
    const auto found = find_target(name);
    ASSERT_FALSE(found.ok()) << name;
    EXPECT_EQ(found.status().code(), StatusCode::kDeviceNotFound);
    EXPECT_THAT(std::string(found.status().message()), HasSubstr("v68, v69, v73, v75, v79, v81"));
  }
}

TEST(OnnxruntimeTargetsTest, OtherDevicesAreNoTargets) {
  for (const char* name : {"CPU", "QNN", "QNN.NPU.1", "OpenVINO.v73", "Other.v73", ""}) {
    const auto found = find_target(name);
    ASSERT_TRUE(found.ok()) << name;
    EXPECT_EQ(found->target, nullptr) << name;
  }
}

TEST(OnnxruntimeTargetsTest, EveryTargetHasASystemAndANameOfItsOwn) {
  std::set<std::string> names;
  std::set<unsigned> systems;
  for (const KnownProvider& known : known_providers()) {
    for (const Target& target : known.targets) {
      EXPECT_TRUE(names.insert(device_name({&known, &target})).second);
      EXPECT_TRUE(systems.insert(target.soc_model).second) << target.full_name;
      EXPECT_EQ(target.architecture, "v" + std::to_string(target.htp_arch));
      EXPECT_THAT(std::string(target.full_name), HasSubstr(std::string(target.architecture)));
    }
  }
  EXPECT_EQ(names.size(), 6U);
}

TEST(OnnxruntimeTargetsTest, TheProviderIsToldArchitectureSystemAndPrecision) {
  const auto options = provider_options(*find_target("QNN.v79")->target, "/x/libQnnHtp.so");
  EXPECT_THAT(options, Contains(Pair("backend_path", "/x/libQnnHtp.so")));
  EXPECT_THAT(options, Contains(Pair("htp_arch", "79")));
  EXPECT_THAT(options, Contains(Pair("soc_model", "69")));
  EXPECT_THAT(options, Contains(Pair("enable_htp_fp16_precision", "1")));
}

TEST(OnnxruntimeTargetsTest, ABlobOfAnotherArchitectureIsKnownByTheProvidersWord) {
  const Target& v73 = *find_target("QNN.v73")->target;
  EXPECT_FALSE(is_for_another(v73, "v2:6:2.51.0:5.51.0:73:60:0:0"));
  EXPECT_TRUE(is_for_another(v73, "v2:6:2.51.0:5.51.0:75:57:0:0"));
  // What is not understood is left to the provider.
  for (const char* unknown : {"", "v3:75", "v2:6", "something"})
    EXPECT_FALSE(is_for_another(v73, unknown)) << unknown;
}

TEST(OnnxruntimeTargetsTest, AVirtualDeviceSaysWhatItIsAndWhatIsMissing) {
  const auto name = *find_target("QNN.v75");
  const auto here = virtual_device(name, "/x/libQnnHtp.so", "1.31.1");
  EXPECT_TRUE(here.is_virtual());
  EXPECT_EQ(here.id(), "onnxruntime:QNN.v75");
  EXPECT_EQ(here.facts().at("DiscoveredBy"), "onnxruntime");
  EXPECT_EQ(here.facts().at("CompilerInstalled"), "1");
  EXPECT_EQ(here.facts().at("Architecture"), "v75");
  EXPECT_FALSE(here.facts().contains("Missing"));
  const auto missing = virtual_device(name, "", "1.31.1");
  EXPECT_EQ(missing.facts().at("CompilerInstalled"), "0");
  EXPECT_EQ(missing.facts().at("Emulated"), "0");
  EXPECT_THAT(missing.facts().at("Missing"), HasSubstr("latebind/runtime onnxruntime-qnn"));
}

TEST(OnnxruntimeTargetsTest, WhoseGpusAProviderIsFor) {
  constexpr std::uint32_t kAmd = 0x1002;
  EXPECT_TRUE(known_provider(kWebGpuProvider)->is_for_gpus_of(kAmd));
  EXPECT_TRUE(known_provider(kWebGpuProvider)->is_for_gpus_of(kNvidia));
  EXPECT_TRUE(known_provider(kCudaProvider)->is_for_gpus_of(kNvidia));
  EXPECT_FALSE(known_provider(kCudaProvider)->is_for_gpus_of(kAmd));
  EXPECT_FALSE(known_provider("QNNExecutionProvider")->is_for_gpus_of(kNvidia));
  // In `auto` the maker's own comes first.
  EXPECT_LT(known_provider(kCudaProvider), known_provider(kWebGpuProvider));
}

TEST(OnnxruntimeTargetsTest, AFailureToReachAGpuSaysWhatIsMissingFirst) {
  const KnownProvider& webgpu = *known_provider(kWebGpuProvider);
  const auto failure = Status::from_vendor(StatusCode::kDeviceFailed, "ONNX Runtime cannot load the model", 1,
                                           "x.cc:1 was false. Failed to get a WebGPU adapter: No supported adapters");
  const auto linux_s = explained(webgpu, failure, core::System::kLinux);
  EXPECT_EQ(linux_s.code(), failure.code());
  EXPECT_EQ(linux_s.vendor_text(), failure.vendor_text());
  EXPECT_THAT(linux_s.brief(), AllOf(testing::StartsWith("no Vulkan driver"), HasSubstr("mesa-vulkan-drivers")));
  EXPECT_THAT(explained(webgpu, failure, core::System::kWindows).brief(), testing::StartsWith("no graphics driver"));
  const Status other(StatusCode::kDeviceFailed, "something else");
  EXPECT_EQ(explained(webgpu, other, core::System::kLinux).to_string(), other.to_string());
  EXPECT_EQ(explained(*known_provider(kCudaProvider), failure, core::System::kLinux).to_string(), failure.to_string());
}

TEST(OnnxruntimeTargetsTest, EmulationIsForOneKindOfMachine) {
  EXPECT_TRUE(is_emulated(System::kLinux, "x86_64"));
  EXPECT_FALSE(is_emulated(System::kLinux, "aarch64"));
  EXPECT_FALSE(is_emulated(System::kWindows, "x86_64"));
}

TEST(OnnxruntimeTargetsTest, ALibraryIsKnownByItsName) {
  EXPECT_NE(known_provider_of_file("libonnxruntime_providers_qnn.so", System::kLinux), nullptr);
  EXPECT_NE(known_provider_of_file("libonnxruntime_providers_openvino_plugin.so.1.8.1", System::kLinux), nullptr);
  EXPECT_NE(known_provider_of_file("onnxruntime_providers_qnn.dll", System::kWindows), nullptr);
  EXPECT_EQ(known_provider_of_file("libonnxruntime_providers_qnn.sound", System::kLinux), nullptr);
  EXPECT_EQ(known_provider_of_file("libonnxruntime_providers_x.so", System::kLinux), nullptr);
}

}  // namespace
}  // namespace latebind::onnxruntime
