// What is said of Intel's hardware, for what the system knows and what OpenVINO lists.
#include "backends/openvino/hardware.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>

namespace latebind::openvino {
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

Accelerator npu(std::uint32_t device_id = 0x643E) {
  Accelerator one;
  one.name = "accel0";
  one.vendor_id = 0x8086;
  one.device_id = device_id;
  one.pci_address = "0000:00:0b.0";
  one.driver = "intel_vpu";
  one.driver_version = "1.2";
  one.node = "/dev/accel/accel0";
  one.group = "render";
  one.open_to_its_group = true;
  return one;
}

Accelerator gpu() {
  Accelerator one = npu(0x7D55);
  one.kind = AcceleratorClass::kRender;
  one.name = "renderD128";
  one.driver = "i915";
  one.node = "/dev/dri/renderD128";
  return one;
}

Device listed(DeviceKind kind, const std::string& architecture = {}) {
  Device device;
  device.backend = "openvino";
  device.kind = kind;
  device.traits.architecture = architecture;
  return device;
}

HardwareNote note_of(const Accelerator& one, const core::Result<std::vector<Device>>& devices,
                     core::System system = core::System::kLinux) {
  const auto notes = hardware_notes({&one, 1}, devices, "install openvino", system);
  EXPECT_THAT(notes, SizeIs(1));
  return notes.empty() ? HardwareNote{} : notes.front();
}

const std::vector<Device> kNone;

TEST(HardwareTest, AnNpuThatOpenvinoListsIsReady) {
  const auto note = note_of(npu(), std::vector{listed(DeviceKind::kNpu, "4000")});
  EXPECT_EQ(note.name, "Intel NPU 4000");
  EXPECT_EQ(note.kind, DeviceKind::kNpu);
  EXPECT_EQ(note.node, "/dev/accel/accel0");
  EXPECT_TRUE(note.ready);
  EXPECT_EQ(note.status, "ready");
  EXPECT_EQ(note.remedy, "");
  EXPECT_EQ(note.metadata.at("Driver"), "intel_vpu");
  EXPECT_EQ(note.metadata.at("DriverVersion"), "1.2");
  EXPECT_EQ(note.metadata.at("PciId"), "8086:643e");
  EXPECT_FALSE(note.metadata.contains("FirmwareVersion"));
}

TEST(HardwareTest, EveryKnownIdHasItsArchitecture) {
  for (const auto& [id, name] : {std::pair{0x7D1DU, "Intel NPU 3720"}, std::pair{0xAD1DU, "Intel NPU 3720"},
                                 std::pair{0x643EU, "Intel NPU 4000"}, std::pair{0xB03EU, "Intel NPU 5010"},
                                 std::pair{0xFD3EU, "Intel NPU 5020"}, std::pair{0xD71DU, "Intel NPU 6010"}}) {
    EXPECT_EQ(note_of(npu(id), kNone).name, name);
  }
  EXPECT_EQ(note_of(npu(0x1234), kNone).name, "Intel NPU (PCI 8086:1234)");
  EXPECT_EQ(note_of(gpu(), kNone).name, "Intel GPU (PCI 8086:7d55)");
}

TEST(HardwareTest, WhoMayNotOpenItIsToldTheGroupAndWhatToType) {
  Accelerator one = npu();
  one.open_error = EACCES;
  const auto note = note_of(one, kNone);
  EXPECT_FALSE(note.ready);
  EXPECT_EQ(note.status, "its driver intel_vpu is loaded, but you may not open /dev/accel/accel0");
  EXPECT_EQ(note.remedy, "add yourself to the group render: sudo usermod -aG render $USER, then log in again");
}

TEST(HardwareTest, AGroupThatWouldNotHelpIsNotAdvised) {
  Accelerator one = npu();
  one.open_error = EACCES;
  one.group = "root";
  EXPECT_THAT(note_of(one, kNone).remedy, AllOf(HasSubstr("chgrp render /dev/accel/accel0"), HasSubstr("g+rw")));
  one.group = "render";
  one.open_to_its_group = false;
  EXPECT_THAT(note_of(one, kNone).remedy, HasSubstr("g+rw"));
}

TEST(HardwareTest, WithoutADriverItsModuleIsNamed) {
  Accelerator one = npu();
  one.driver.clear();
  one.node.clear();
  EXPECT_EQ(note_of(one, kNone).status, "no driver is loaded (module intel_vpu)");
  EXPECT_THAT(note_of(one, kNone).remedy, HasSubstr("modprobe intel_vpu"));
  one.kind = AcceleratorClass::kRender;
  EXPECT_THAT(note_of(one, kNone).status, HasSubstr("i915"));
}

TEST(HardwareTest, ANodeThatIsNotThereIsAMatterOfTheContainer) {
  Accelerator one = npu();
  one.open_error = ENOENT;
  EXPECT_THAT(note_of(one, kNone).remedy, HasSubstr("--device /dev/accel/accel0"));
  one.open_error = EIO;
  EXPECT_THAT(note_of(one, kNone).status, HasSubstr("cannot be opened: "));
  one.node.clear();
  EXPECT_THAT(note_of(one, kNone).status, HasSubstr("not created a device node"));
}

TEST(HardwareTest, AnNpuThatOpenvinoDoesNotListLacksItsUserSpaceDriver) {
  const auto note = note_of(npu(), std::vector{listed(DeviceKind::kCpu)});
  EXPECT_EQ(note.status, "its user-space driver is missing: OpenVINO lists no such NPU");
  EXPECT_THAT(note.remedy, HasSubstr("intel-level-zero-npu"));
  EXPECT_THAT(note_of(gpu(), kNone).remedy, HasSubstr("intel-opencl-icd"));
}

TEST(HardwareTest, OfSeveralNpusTheArchitectureTellsWhichIsListed) {
  EXPECT_TRUE(note_of(npu(0x7D1D), std::vector{listed(DeviceKind::kNpu, "3720")}).ready);
  EXPECT_FALSE(note_of(npu(0x7D1D), std::vector{listed(DeviceKind::kNpu, "4000")}).ready);
  EXPECT_TRUE(note_of(npu(0x7D1D), std::vector{listed(DeviceKind::kNpu)}).ready);
  EXPECT_TRUE(note_of(npu(0x1234), std::vector{listed(DeviceKind::kNpu, "4000")}).ready);
  Device not_here = listed(DeviceKind::kNpu, "3720");
  not_here.traits.virtual_device.emplace();
  EXPECT_FALSE(note_of(npu(0x7D1D), std::vector{not_here}).ready);
}

TEST(HardwareTest, WithoutOpenvinoThatIsSaidToo) {
  const auto missing = note_of(npu(), Status(StatusCode::kLibraryNotFound, "nowhere"));
  EXPECT_EQ(missing.status, "OpenVINO, which would use it, is not found");
  EXPECT_EQ(missing.remedy, "install openvino");
  Accelerator one = npu();
  one.open_error = EACCES;
  const auto both = note_of(one, Status(StatusCode::kLibraryUnusable, "too old"));
  EXPECT_THAT(both.status,
              AllOf(HasSubstr("may not open"), HasSubstr("; OpenVINO, which would use it, does not work")));
  EXPECT_THAT(both.remedy, AllOf(HasSubstr("usermod"), HasSubstr("; then install openvino")));
}

TEST(HardwareTest, WindowsHasItsOwnRemedies) {
  const auto note = [](const Accelerator& one, const std::vector<Device>& devices) {
    return note_of(one, devices, core::System::kWindows);
  };
  Accelerator one = npu();
  one.driver = "npu";
  one.node = R"(PCI\VEN_8086&DEV_643E\3&1)";
  EXPECT_TRUE(note(one, {listed(DeviceKind::kNpu, "4000")}).ready);
  EXPECT_THAT(note(one, {}).remedy, HasSubstr("newer version of Intel's NPU driver"));
  one.node.clear();
  EXPECT_THAT(note(one, {}).remedy, HasSubstr("Device Manager"));
  one.driver.clear();
  EXPECT_THAT(note(one, {}).remedy, HasSubstr("Windows Update"));
  for (const Accelerator& none : {npu(), gpu()}) {
    Accelerator undriven = none;
    undriven.driver.clear();
    EXPECT_THAT(note(undriven, {}).remedy, Not(HasSubstr("sudo")));
  }
}

TEST(HardwareTest, WhatIsNotIntelsIsNoneOfItsBusiness) {
  Accelerator other = npu();
  other.vendor_id = 0x1022;
  Accelerator no_npu = npu(0x1234);  // one of Intel's processors for other things
  no_npu.driver.clear();
  const std::vector both{other, no_npu};
  EXPECT_THAT(hardware_notes(both, kNone, "", core::System::kLinux), IsEmpty());
}

}  // namespace
}  // namespace latebind::openvino
