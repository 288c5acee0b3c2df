// Compiling for Intel's NPUs that are not here, on the fake library.
#include "backends/openvino/targets.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "core/backend/questions.h"
#include "core/engine/engine.h"
#include "tests/openvino/fake_backend.h"

namespace latebind::openvino {
namespace {

using core::CompileOptions;
using core::Precision;
using core::Shape;
using core::StatusCode;
using core::System;
using test::fake_model;
using testing::AllOf;
using testing::HasSubstr;

constexpr const char* kStatic = "input x f32 4\noutput y plus-one 0\n";

class NpuTargetTest : public test::FakeBackendTest {
 protected:
  void SetUp() override { fake_.script("device CPU\n"); }

  // The compiler's file is only looked at: the fake library is its own compiler.
  void install_compiler(const char* name = "libopenvino_intel_npu_compiler_loader.so") {
    std::ofstream(fake_.folder() / name) << "";
    // Its plugin compiles although no NPU is listed.
    fake_.script("device CPU\nregistered NPU\n");
  }
  core::Result<core::Blob> compile(const std::string& device, const CompileOptions& options,
                                   std::string_view model = kStatic) {
    return core::compile_blob(*backend_, fake_model(model), device, options);
  }
  core::Device target_device(const std::string& name) {
    const auto devices = core::virtual_devices_of(*backend_);
    EXPECT_TRUE(devices.ok());
    for (const auto& device : *devices)
      if (device.name == name) return device;
    ADD_FAILURE() << "no " << name;
    return {};
  }

  const CompileOptions half_{.precision = Precision::kF16};
};

TEST(NpuArchitectureTest, IsTheBareNumber) {
  for (const char* word : {"4000", "NPU4000", "NPU.4000", "VPUX4000", "VPUX.4000"})
    EXPECT_EQ(npu_architecture(word), "4000") << word;
  for (const char* word : {"", "AUTO_DETECT", "NPU", "NPU.", "NPU40x0", "GPU.4000"})
    EXPECT_EQ(npu_architecture(word), word);
}

TEST(FindTargetTest, KnowsItsNamesAndLeavesOthersAlone) {
  EXPECT_EQ((*find_target("NPU.5010"))->architecture, "5010");
  for (const char* name : {"NPU", "CPU", "GPU.1", "", "npu.4000"})
    EXPECT_EQ(*find_target(name), nullptr) << name;
  const auto unknown = find_target("NPU.4001").status();
  EXPECT_EQ(unknown.code(), StatusCode::kDeviceNotFound);
  EXPECT_THAT(unknown.to_string(), AllOf(HasSubstr("'4001'"), HasSubstr("3720, 4000, 5010, 5020")));
}

TEST(GpuArchitectureTest, IsTheWordInTheVendorsSentence) {
  EXPECT_EQ(gpu_architecture("GPU: vendor=0x8086 arch=v12.55.8"), "v12.55.8");
  EXPECT_EQ(gpu_architecture("GPU: vendor=0x8086 arch=v12.55.8, more"), "v12.55.8");
  EXPECT_EQ(gpu_architecture("GPU: vendor=0x8086 arch="), "");
  EXPECT_EQ(gpu_architecture("a GPU"), "a GPU");
  EXPECT_EQ(gpu_architecture(""), "");
}

TEST(CompilerFileTest, MissingOnesAreNamedAsTheSystemNamesThem) {
  EXPECT_THAT(missing_npu_compiler(System::kLinux),
              AllOf(HasSubstr("libopenvino_intel_npu_compiler_loader.so"), HasSubstr("archive"), HasSubstr("driver")));
  EXPECT_THAT(missing_npu_compiler(System::kWindows), HasSubstr("openvino_intel_npu_compiler_loader.dll"));
}

TEST_F(NpuTargetTest, AreVirtualDevicesAndNotDevices) {
  EXPECT_EQ(backend_->devices()->size(), 1U);
  EXPECT_EQ(core::virtual_devices_of(*backend_)->size(), 4U);
  const auto device = target_device("NPU.4000");
  EXPECT_EQ(device.id(), "openvino:NPU.4000");
  EXPECT_EQ(device.target(), "npu:4000");
  EXPECT_EQ(device.kind, core::DeviceKind::kNpu);
  EXPECT_TRUE(device.is_virtual());
  EXPECT_EQ(device.facts().at("DiscoveredBy"), "openvino");
  EXPECT_EQ(device.facts().at("Precisions"), "f16");
  EXPECT_EQ(device.facts().at("Emulated"), "0");
  EXPECT_EQ(device.facts().at("CompilerInstalled"), "0");
  EXPECT_THAT(device.facts().at("Missing"), HasSubstr("libopenvino_intel_npu_compiler_loader.so"));
}

TEST_F(NpuTargetTest, WithoutOpenvinoThatIsWhatIsMissing) {
  fake_.remove();
  const auto device = target_device("NPU.3720");
  EXPECT_EQ(device.facts().at("CompilerInstalled"), "0");
  EXPECT_THAT(device.facts().at("Missing"), AllOf(HasSubstr("OpenVINO"), HasSubstr("pip install")));
  fake_.install();
}

TEST_F(NpuTargetTest, TheCompilerIsFoundBesideTheLibrary) {
  install_compiler("libopenvino_intel_npu_compiler.so");  // as older versions have it
  const auto old = target_device("NPU.4000");
  EXPECT_EQ(old.facts().at("CompilerInstalled"), "1");
  EXPECT_FALSE(old.facts().contains("Missing"));
  install_compiler();
  EXPECT_EQ(target_device("NPU.4000").metadata.at("Compiler"),
            (fake_.folder() / "libopenvino_intel_npu_compiler_loader.so").string());
}

TEST_F(NpuTargetTest, WithoutTheCompilerItIsNamedAndTheVendorIsNotAsked) {
  const auto status = compile("NPU.4000", half_).status();
  EXPECT_EQ(status.code(), StatusCode::kLibraryNotFound);
  EXPECT_THAT(status.to_string(), AllOf(HasSubstr("NPU.4000"), HasSubstr("libopenvino_intel_npu_compiler_loader.so")));
  EXPECT_EQ(fake_.calls("ov_core_compile_model"), 0);
}

TEST_F(NpuTargetTest, EachIsCompiledForItself) {
  install_compiler();
  std::vector<std::string> made;
  for (const char* name : {"NPU.3720", "NPU.4000", "NPU.5010", "NPU.5020"}) {
    const auto blob = compile(name, half_);
    ASSERT_TRUE(blob.ok()) << blob.status().to_string();
    EXPECT_EQ(blob->backend, "openvino");
    EXPECT_EQ(blob->device, name);
    EXPECT_EQ(blob->precision, Precision::kF16);
    EXPECT_EQ(blob->compatibility, "");
    const auto bytes = blob->bytes.bytes;
    const std::string text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    EXPECT_THAT(text, HasSubstr(std::string("platform ") + std::string(name).substr(4)));
    made.push_back(text);
  }
  EXPECT_NE(made[0], made[1]);
}

TEST_F(NpuTargetTest, UnknownOnesAreRefusedByUs) {
  install_compiler();
  EXPECT_EQ(compile("NPU.6000", half_).status().code(), StatusCode::kDeviceNotFound);
  EXPECT_EQ(fake_.calls("ov_core_compile_model"), 0);
}

TEST_F(NpuTargetTest, OnlyF16IsComputedThere) {
  install_compiler();
  const auto status = compile("NPU.4000", {}).status();
  EXPECT_EQ(status.code(), StatusCode::kUnsupported);
  EXPECT_THAT(status.to_string(), AllOf(HasSubstr("openvino:NPU.4000 computes only in f16"), HasSubstr("f32")));
  EXPECT_EQ(fake_.calls("ov_core_compile_model"), 0);
}

TEST_F(NpuTargetTest, ShapesMustBeStaticAndTheErrorSaysSo) {
  install_compiler();
  const auto status = compile("NPU.4000", half_, test::kDynamicModel).status();
  EXPECT_EQ(status.code(), StatusCode::kDeviceFailed);
  EXPECT_THAT(status.vendor_text(), HasSubstr("Missing upper bound"));
  EXPECT_THAT(status.to_string(), HasSubstr("static shapes"));
  CompileOptions fixed = half_;
  fixed.input_shapes = {Shape{3, 2}};
  EXPECT_TRUE(compile("NPU.4000", fixed, test::kDynamicModel).ok());
}

TEST_F(NpuTargetTest, AUsersPropertyDoesNotChangeTheTarget) {
  install_compiler();
  CompileOptions options = half_;
  options.properties = {{"NPU_PLATFORM", "3720"}};
  const auto status = compile("NPU.4000", options).status();
  EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(status.to_string(), HasSubstr("NPU_PLATFORM"));
}

TEST_F(NpuTargetTest, BlobsMayBeStoredAsDifferencesAndThoseForACpuMayNot) {
  install_compiler();
  EXPECT_TRUE(compile("NPU.4000", half_)->is_copied);
  fake_.script("device CPU\ndevice NPU\n");
  EXPECT_TRUE(compile("NPU", half_)->is_copied);
  EXPECT_FALSE(compile("CPU", {})->is_copied);
}

TEST_F(NpuTargetTest, RunNothingHere) {
  install_compiler();
  const auto blob = compile("NPU.4000", half_);
  ASSERT_TRUE(blob.ok()) << blob.status().to_string();
  for (const auto& status : {backend_->load(fake_model(kStatic), "NPU.4000", half_).status(),
                             core::load_blob(*backend_, *blob, "NPU.4000", half_).status()}) {
    EXPECT_EQ(status.code(), StatusCode::kUnsupported);
    EXPECT_THAT(status.to_string(), HasSubstr("virtual device: models can be compiled for it here"));
  }
}

TEST_F(NpuTargetTest, ADeviceOfTheArchitectureLoadsWhatWasMadeForIt) {
  install_compiler();
  const auto blob = compile("NPU.4000", half_);
  ASSERT_TRUE(blob.ok()) << blob.status().to_string();
  fake_.script("device NPU\nproperty NPU DEVICE_ARCHITECTURE NPU.4000\n");
  EXPECT_EQ(backend_->devices()->front().target(), "npu:4000");
  auto loaded = core::load_blob(*backend_, *blob, "NPU", half_);
  ASSERT_TRUE(loaded.ok()) << loaded.status().to_string();
  EXPECT_EQ((*loaded)->active().device, "NPU");

  fake_.script("device NPU\nproperty NPU DEVICE_ARCHITECTURE 3720\n");
  const auto other = core::load_blob(*backend_, *blob, "NPU", half_).status();
  EXPECT_EQ(other.code(), StatusCode::kIncompatibleBlob);
  EXPECT_THAT(other.to_string(), AllOf(HasSubstr("NPU.4000"), HasSubstr("NPU.3720")));
  fake_.script("device NPU\n");  // one that does not say what it is
  EXPECT_EQ(core::load_blob(*backend_, *blob, "NPU", half_).status().code(), StatusCode::kIncompatibleBlob);
}

TEST_F(NpuTargetTest, ARealOneOfTheSameNameIsNoTarget) {
  fake_.script("device NPU.3720\ndevice NPU.4000\n");
  EXPECT_EQ(core::virtual_devices_of(*backend_)->size(), 2U);
  // Compiled by the driver's own compiler, for which no library is needed.
  EXPECT_TRUE(compile("NPU.4000", half_).ok());
}

TEST_F(NpuTargetTest, ArePlacedNowhereAndTheReasonSaysWhy) {
  core::Registry registry;
  ASSERT_TRUE(registry.add(backend_).ok());
  for (const char* text : {"auto", "npu", "openvino"}) {
    const auto placement = core::Placement::parse(text, registry);
    ASSERT_TRUE(placement.ok());
    for (const auto& candidate : placement->resolve(registry))
      EXPECT_TRUE(!candidate.device || !candidate.device->is_virtual()) << text;
  }
  const auto named = core::Placement::parse("openvino:NPU.4000", registry);
  ASSERT_TRUE(named.ok());
  const auto candidates = named->resolve(registry, true);
  ASSERT_EQ(candidates.size(), 1U);
  EXPECT_FALSE(candidates[0].device.has_value());
  EXPECT_THAT(candidates[0].refusal.reason, HasSubstr("not in this machine"));
}

}  // namespace
}  // namespace latebind::openvino
