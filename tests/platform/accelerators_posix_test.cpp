// What the system knows of accelerators, in made-up trees.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cerrno>
#include <filesystem>
#include <string>

#include "core/platform/accelerators.h"
#include "tests/platform/support.h"

namespace latebind::platform {
namespace {

namespace fs = std::filesystem;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using testing::write_file;

class AcceleratorsTest : public ::testing::Test {
 protected:
  // A device of PCI as the kernel shows it.
  void add_pci(const std::string& address, const std::string& pci_class, const std::string& vendor,
               const std::string& device, const std::string& driver) {
    const fs::path folder = root_ / ("sys/bus/pci/devices/" + address);
    fs::create_directories(folder);
    write_file(folder / "class", pci_class + "\n");
    write_file(folder / "vendor", vendor + "\n");
    write_file(folder / "device", device + "\n");
    write_file(folder / "uevent", "DRIVER=" + driver + "\nPCI_ID=8086:643E\nPCI_SLOT_NAME=" + address + "\n");
    if (driver.empty()) return;
    const fs::path home = root_ / ("sys/bus/pci/drivers/" + driver);
    fs::create_directories(home / "module");
    fs::create_symlink("../../drivers/" + driver, folder / "driver");
  }
  // What a driver makes of it: "accel/accel0".
  void add_class(const std::string& name, const std::string& address) {
    fs::create_directories(root_ / ("sys/class/" + name));
    fs::create_symlink(root_ / ("sys/bus/pci/devices/" + address), root_ / ("sys/class/" + name + "/device"));
  }
  void add_node(const std::string& path, ::mode_t mode) {
    fs::create_directories((root_ / path).parent_path());
    write_file(root_ / path, "");
    ASSERT_EQ(::chmod((root_ / path).c_str(), mode), 0);
  }
  void add_npu() {
    add_pci("0000:00:0b.0", "0x120000", "0x8086", "0x643e", "intel_vpu");
    add_class("accel/accel0", "0000:00:0b.0");
    add_node("dev/accel/accel0", 0660);
  }

  testing::ScratchFolder root_;
};

TEST_F(AcceleratorsTest, ThereIsNoneWhereTheSystemSaysSo) {
  EXPECT_FALSE(has_no_accelerator(root_.path())) << "there is no list to read";
  add_pci("0000:00:02.0", "0x020000", "0x1af4", "0x1000", "virtio-pci");
  EXPECT_TRUE(has_no_accelerator(root_.path()));
  add_pci("0000:00:03.0", "0x030000", "0x8086", "0x643e", "");
  EXPECT_FALSE(has_no_accelerator(root_.path())) << "a display that nothing drives";
}

TEST_F(AcceleratorsTest, ThereMayBeOneWhereTheListDoesNotSay) {
  add_pci("0000:00:02.0", "0x020000", "0x1af4", "0x1000", "virtio-pci");
  for (const char* node : {"dev/dxg", "dev/dri/renderD128", "dev/accel/accel0"}) {
    add_node(node, 0600);
    EXPECT_FALSE(has_no_accelerator(root_.path())) << node;
    fs::remove_all(root_ / "dev");
  }
  EXPECT_TRUE(has_no_accelerator(root_.path()));
  fs::create_directories(root_ / "sys/bus/pci/devices/0000:00:04.0");
  EXPECT_FALSE(has_no_accelerator(root_.path())) << "a device whose class cannot be read";
}

TEST_F(AcceleratorsTest, WithoutAnyTheListIsEmpty) {
  EXPECT_THAT(accelerators(root_.path()), IsEmpty());
  EXPECT_THAT(accelerators(root_ / "nowhere"), IsEmpty());
}

// Where the module for display is not loaded, as in most data centres.
TEST_F(AcceleratorsTest, NvidiasDriverHasANodeOfItsOwn) {
  add_pci("0000:00:06.0", "0x030200", "0x10de", "0x2330", "nvidia");
  const fs::path facts = root_ / "proc/driver/nvidia/gpus/0000:00:06.0";
  fs::create_directories(facts);
  write_file(facts / "information", "Model: \t\t NVIDIA H100 80GB HBM3\nDevice Minor: \t 3\n");
  add_node("dev/nvidia3", 0666);
  auto found = accelerators(root_.path());
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_EQ(found[0].kind, AcceleratorClass::kRender);
  EXPECT_EQ(found[0].node, "/dev/nvidia3");
  EXPECT_EQ(found[0].open_error, 0);
  fs::remove(root_ / "dev/nvidia3");
  EXPECT_EQ(accelerators(root_.path()).front().open_error, ENOENT);
  for (const char* text : {"", "Device Minor:", "Device Minor: x\n", "Device Minor: 99999999999999999999\n"}) {
    write_file(facts / "information", text);
    EXPECT_EQ(accelerators(root_.path()).front().node, "") << text;
  }
}

TEST_F(AcceleratorsTest, AnNpuIsDescribedWithDriverNodeAndGroup) {
  add_npu();
  write_file(root_ / "sys/bus/pci/drivers/intel_vpu/module/version", "1.2.3\n");
  write_file(root_ / "sys/bus/pci/devices/0000:00:0b.0/fw_version", "fw 7\n");
  const auto found = accelerators(root_.path());
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_EQ(found[0].kind, AcceleratorClass::kCompute);
  EXPECT_EQ(found[0].name, "accel0");
  EXPECT_EQ(found[0].vendor_id, 0x8086U);
  EXPECT_EQ(found[0].device_id, 0x643EU);
  EXPECT_EQ(found[0].pci_address, "0000:00:0b.0");
  EXPECT_EQ(found[0].driver, "intel_vpu");
  EXPECT_EQ(found[0].driver_version, "1.2.3");
  EXPECT_EQ(found[0].firmware_version, "fw 7");
  EXPECT_EQ(found[0].node, "/dev/accel/accel0");
  EXPECT_EQ(found[0].open_error, 0);
  EXPECT_NE(found[0].group, "");
  EXPECT_TRUE(found[0].open_to_its_group);
}

TEST_F(AcceleratorsTest, WhoMayNotOpenTheNodeIsToldSo) {
  add_npu();
  add_node("dev/accel/accel0", 0600);
  // Made by this user, and looked at by another, since root may open everything.
  const std::string error = testing::as_nobody([&] {
    const auto found = accelerators(root_.path());
    return found.size() == 1 ? std::to_string(found[0].open_error) + (found[0].open_to_its_group ? " group" : "")
                             : std::string("not found");
  });
  if (testing::is_root()) {
    EXPECT_EQ(error, std::to_string(EACCES));
  } else {
    EXPECT_EQ(error, "0");
  }
}

TEST_F(AcceleratorsTest, AMissingNodeIsAnErrorOfItsOwn) {
  add_npu();
  fs::remove(root_ / "dev/accel/accel0");
  EXPECT_EQ(accelerators(root_.path()).at(0).open_error, ENOENT);
}

TEST_F(AcceleratorsTest, ADeviceThatNothingDrivesIsFoundOnItsBus) {
  add_pci("0000:00:0b.0", "0x120000", "0x8086", "0x7d1d", "");
  add_pci("0000:00:02.0", "0x030000", "0x8086", "0x7d55", "i915");
  add_class("drm/renderD128", "0000:00:02.0");
  add_class("drm/card0", "0000:00:02.0");
  add_pci("0000:00:1f.0", "0x060100", "0x8086", "0x1234", "");  // a bridge
  const auto found = accelerators(root_.path());
  ASSERT_THAT(found, SizeIs(2));
  EXPECT_EQ(found[0].name, "renderD128");
  EXPECT_EQ(found[0].kind, AcceleratorClass::kRender);
  EXPECT_EQ(found[0].node, "/dev/dri/renderD128");
  EXPECT_EQ(found[1].name, "0000:00:0b.0");
  EXPECT_EQ(found[1].driver, "");
  EXPECT_EQ(found[1].node, "");
}

TEST_F(AcceleratorsTest, ADeviceOnAnotherBusHasNoNumbers) {
  fs::create_directories(root_ / "sys/class/accel/accel0/device");
  const auto found = accelerators(root_.path());
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_EQ(found[0].vendor_id, 0U);
  EXPECT_EQ(found[0].driver, "");
}

TEST_F(AcceleratorsTest, WhatADriverSaysIsKeptShortAndPrintable) {
  add_npu();
  write_file(root_ / "sys/bus/pci/devices/0000:00:0b.0/fw_version", "a\x1b[31m" + std::string(100'000, 'x'));
  write_file(root_ / "sys/bus/pci/devices/0000:00:0b.0/vendor", "eight thousand\n");
  const auto found = accelerators(root_.path());
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_EQ(found[0].firmware_version.size(), kAcceleratorTextMax);
  EXPECT_TRUE(found[0].firmware_version.starts_with("a?[31mxx"));
  EXPECT_EQ(found[0].vendor_id, 0U);
}

TEST_F(AcceleratorsTest, ThereAreNotMoreThanTheLimitAndTheyAreInOrder) {
  for (std::size_t i = 0; i < kAcceleratorsMax + 10; ++i)
    fs::create_directories(root_ / ("sys/class/accel/accel" + std::to_string(i) + "/device"));
  const auto found = accelerators(root_.path());
  ASSERT_THAT(found, SizeIs(kAcceleratorsMax));
  EXPECT_EQ(found[2].name, "accel2");
  EXPECT_EQ(found[10].name, "accel10");
}

}  // namespace
}  // namespace latebind::platform
