// How libraries and devices of providers are named, and which runtimes have providers.
#include "backends/onnxruntime/provider_trial.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "backends/onnxruntime/backend.h"
#include "backends/onnxruntime/plugin_device.h"
#include "backends/onnxruntime/register_provider.h"
#include "core/backend/questions.h"
#include "tests/onnxruntime/fake_library.h"

namespace latebind::onnxruntime {
namespace {

using core::DeviceKind;
using core::Status;
using core::StatusCode;
using testing::ElementsAre;
using testing::HasSubstr;

TEST(OnnxruntimeProviderTrialTest, ALibraryIsRegisteredAfterItsVendorOrItsFile) {
  EXPECT_EQ(registration_name("/x/libonnxruntime_providers_qnn.so"), "QNNExecutionProvider");
  EXPECT_EQ(registration_name("/x/libonnxruntime_providers_openvino_plugin.so.1.8.1"), "OpenVINOExecutionProvider");
  EXPECT_EQ(registration_name("/x/libonnxruntime_providers_other.so.1"), "other");
  EXPECT_EQ(registration_name("/x/libstrange, thing.so"), "libstrange__thing");
}

PluginDevice offered(std::string provider, DeviceKind kind) {
  PluginDevice device;
  device.provider = std::move(provider);
  device.device.kind = kind;
  return device;
}

TEST(OnnxruntimeProviderTrialTest, DevicesAreNamedAfterTheirProviderAndNumberedWhereTheyAreMany) {
  std::vector<PluginDevice> devices{
      offered("QNNExecutionProvider", DeviceKind::kNpu),      offered("OpenVINOExecutionProvider", DeviceKind::kCpu),
      offered("OpenVINOExecutionProvider", DeviceKind::kGpu), offered("OpenVINOExecutionProvider", DeviceKind::kGpu),
      offered("CPUExecutionProvider", DeviceKind::kCpu),      offered("a,b:c", DeviceKind::kOther)};
  name_devices(devices);
  std::vector<std::string> names;
  for (const PluginDevice& one : devices)
    names.push_back(one.device.name);
  EXPECT_THAT(names, ElementsAre("QNN", "OpenVINO.CPU", "OpenVINO.GPU.0", "OpenVINO.GPU.1", "CPU-plugin", "a_b_c"));
}

TEST(OnnxruntimeProviderTrialTest, ACpuThatOnlyCompilesIsNoDeviceAndTakesNoName) {
  const auto names = [](const std::vector<PluginDevice>& devices) {
    std::vector<std::string> result;
    for (const PluginDevice& one : devices)
      result.push_back(one.device.name);
    return result;
  };
  const PluginDevice compiler = offered("QNNExecutionProvider", DeviceKind::kCpu);
  const PluginDevice other = offered("OpenVINOExecutionProvider", DeviceKind::kCpu);
  auto sorted = sort_devices({compiler, other});
  EXPECT_THAT(names(sorted.to_run), ElementsAre("OpenVINO"));
  EXPECT_THAT(names(sorted.to_compile), ElementsAre("QNN"));
  sorted = sort_devices({offered("QNNExecutionProvider", DeviceKind::kNpu), compiler, other});
  EXPECT_THAT(names(sorted.to_run), ElementsAre("QNN", "OpenVINO"));
  EXPECT_TRUE(sorted.to_compile.empty());
}

// An ONNX Runtime before plugins: the providers are refused, and the rest works.
TEST(OnnxruntimeProviderTrialTest, AnOldRuntimeSaysWhichOneIsNeeded) {
  const test::FakeLibrary library("oldest");
  const auto provider = library.folder() / "libonnxruntime_providers_x.so";
  std::filesystem::copy_file(library.file(), provider);
  const auto backend = make_backend({.library_path = library.file().string(), .provider_paths = {provider.string()}});
  const auto devices = backend->devices();
  ASSERT_TRUE(devices.ok()) << devices.status().to_string();
  EXPECT_EQ(devices->size(), 1U);
  const auto parts = backend->diagnosis(nullptr).unavailable;
  ASSERT_EQ(parts.size(), 1U);
  EXPECT_EQ(parts[0].name, "x");
  EXPECT_THAT(parts[0].reason, HasSubstr("need ONNX Runtime 1.22 or newer; this is 1.20.0"));
  const auto virtual_devices = core::virtual_devices_of(*backend);
  ASSERT_TRUE(virtual_devices.ok());
  for (const auto& device : *virtual_devices)
    EXPECT_EQ(device.facts().at("CompilerInstalled"), "0");
}

}  // namespace
}  // namespace latebind::onnxruntime
