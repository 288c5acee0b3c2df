// What is said of GPUs, for what the system knows and what ONNX Runtime lists.
#include "backends/onnxruntime/hardware.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>

#include "core/vendor/hardware_note.h"

namespace latebind::onnxruntime {
namespace {

using core::Device;
using core::DeviceKind;
using core::HardwareNote;
using core::Status;
using core::StatusCode;
using platform::Accelerator;
using platform::AcceleratorClass;
using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

Accelerator gpu(std::uint32_t vendor_id = 0x1002) {
  Accelerator one;
  one.kind = AcceleratorClass::kRender;
  one.name = "renderD128";
  one.vendor_id = vendor_id;
  one.device_id = 0x1638;
  one.driver = "amdgpu";
  one.node = "/dev/dri/renderD128";
  return one;
}

std::vector<Device> with_provider() {
  Device device;
  device.backend = "onnxruntime";
  device.kind = DeviceKind::kGpu;
  device.traits.provider = "WebGpuExecutionProvider";
  return {device};
}

HardwareNote note_of(const Accelerator& one, const core::Result<std::vector<Device>>& devices,
                     core::System system = core::System::kLinux) {
  const auto notes = hardware_notes({&one, 1}, devices, system);
  EXPECT_THAT(notes, SizeIs(1));
  return notes.empty() ? HardwareNote{} : notes.front();
}

TEST(OnnxruntimeHardwareTest, IsReadyWithDriverAndProvider) {
  const auto note = note_of(gpu(), with_provider());
  EXPECT_TRUE(note.ready);
  EXPECT_EQ(note.name, "AMD GPU (PCI 1002:1638)");
  EXPECT_EQ(note.status, "ready");
  EXPECT_EQ(note.remedy, "");
}

TEST(OnnxruntimeHardwareTest, WithoutADriverItSaysWhatToLoad) {
  Accelerator one = gpu();
  one.driver.clear();
  one.node.clear();
  const auto note = note_of(one, with_provider());
  EXPECT_FALSE(note.ready);
  EXPECT_EQ(note.status, "no driver is loaded (module amdgpu)");
  EXPECT_EQ(note.remedy, "sudo modprobe amdgpu");
  one.vendor_id = 0x5143;
  EXPECT_THAT(note_of(one, with_provider()).remedy, HasSubstr("the vendor's driver"));
  EXPECT_THAT(note_of(one, with_provider(), core::System::kWindows).remedy, HasSubstr("graphics driver"));
}

TEST(OnnxruntimeHardwareTest, WithoutTheProviderItSaysWhatToInstall) {
  const auto note = note_of(gpu(), std::vector<Device>{});
  EXPECT_FALSE(note.ready);
  EXPECT_THAT(note.status, AllOf(HasSubstr("WebGpuExecutionProvider"), Not(HasSubstr("driver"))));
  EXPECT_THAT(note.remedy, HasSubstr("onnxruntime-ep-webgpu"));
  // The CPU of another provider is none.
  auto others = with_provider();
  others.front().traits.provider = "OpenVINOExecutionProvider";
  EXPECT_FALSE(note_of(gpu(), others).ready);
}

TEST(OnnxruntimeHardwareTest, ForNvidiasThereIsAProviderOfTheMakers) {
  const auto note = note_of(gpu(0x10DE), std::vector<Device>{});
  EXPECT_THAT(note.status, HasSubstr("CUDAExecutionProvider"));
  EXPECT_THAT(note.remedy, HasSubstr("onnxruntime-gpu[cuda,cudnn]"));
  // The one for any GPU will do.
  EXPECT_TRUE(note_of(gpu(0x10DE), with_provider()).ready);
  auto cuda = with_provider();
  cuda.front().traits.provider = "CUDAExecutionProvider";
  EXPECT_TRUE(note_of(gpu(0x10DE), cuda).ready);
  EXPECT_FALSE(note_of(gpu(0x1002), cuda).ready);
}

TEST(OnnxruntimeHardwareTest, WithoutOnnxRuntimeOneCommandInstallsBoth) {
  const Status gone(StatusCode::kLibraryNotFound, "gone");
  EXPECT_THAT(note_of(gpu(), gone).remedy, testing::EndsWith(" onnxruntime onnxruntime-ep-webgpu"));
  // That build is ONNX Runtime itself.
  EXPECT_THAT(note_of(gpu(0x10DE), gone).remedy, testing::EndsWith(R"( "onnxruntime-gpu[cuda,cudnn]")"));
}

TEST(OnnxruntimeHardwareTest, WhatWorksNeedsNoMending) {
  Accelerator one = gpu(0x10DE);
  one.open_error = ENOENT;  // as in a container of NVIDIA's
  std::vector<HardwareNote> notes{note_of(one, with_provider()), note_of(gpu(), std::vector<Device>{})};
  EXPECT_FALSE(notes.front().ready);
  Device device = with_provider().front();
  core::note_that_it_works(notes, device);
  EXPECT_FALSE(notes.front().ready) << "nobody knows what it is on";
  device.traits.pci_id = core::pci_id(0x10DE, one.device_id);
  core::note_that_it_works(notes, device);
  EXPECT_TRUE(notes.front().ready);
  EXPECT_EQ(notes.front().status + notes.front().remedy, "ready");
  EXPECT_FALSE(notes.back().ready);
}

TEST(OnnxruntimeHardwareTest, WithoutBothItSaysBoth) {
  Accelerator one = gpu();
  one.driver.clear();
  const auto note = note_of(one, Status(StatusCode::kLibraryNotFound, "no library"));
  EXPECT_THAT(note.status, AllOf(HasSubstr("no driver is loaded"), HasSubstr("ONNX Runtime")));
  EXPECT_THAT(note.remedy, AllOf(HasSubstr("modprobe"), HasSubstr(" onnxruntime onnxruntime-ep-webgpu")));
}

TEST(OnnxruntimeHardwareTest, SaysNothingOfOtherHardware) {
  Accelerator one = gpu();
  one.kind = AcceleratorClass::kCompute;
  EXPECT_THAT(hardware_notes({&one, 1}, with_provider()), IsEmpty());
}

}  // namespace
}  // namespace latebind::onnxruntime
