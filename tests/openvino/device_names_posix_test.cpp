// What is asked of the vendor for the names of its devices: its list, which opens every plugin, or the CPU alone.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "backends/openvino/devices.h"
#include "core/platform/files/temporary_folder.h"
#include "tests/openvino/fake_backend.h"

namespace latebind::openvino {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;

class DeviceNamesTest : public ::testing::Test {
 protected:
  void SetUp() override {
    auto folder = platform::TemporaryFolder::create("system");
    ASSERT_TRUE(folder.ok());
    system_.emplace(*std::move(folder));
    add_pci("0000:00:02.0", "0x020000");
    std::ofstream(fake_.folder() / "libopenvino_intel_gpu_plugin.so") << "";
    fake_.script("device CPU\ndevice GPU\n");
    auto library = open_library(fake_.file().string());
    ASSERT_TRUE(library.ok()) << library.status().to_string();
    auto core = VendorCore::create(*std::move(library));
    ASSERT_TRUE(core.ok()) << core.status().to_string();
    core_ = *std::move(core);
  }
  void TearDown() override {
    core_.reset();
    EXPECT_EQ(fake_.defects(), "");
  }
  void add_pci(const char* address, const char* pci_class) {
    const fs::path folder = system_->path() / "sys/bus/pci/devices" / address;
    fs::create_directories(folder);
    std::ofstream(folder / "class") << pci_class << '\n';
  }
  [[nodiscard]] auto names() const {
    const auto found = device_names(*core_, system_->path());
    EXPECT_TRUE(found.ok()) << found.status().to_string();
    return found.ok() ? *found : std::vector<std::string>();
  }
  [[nodiscard]] long lists() const { return fake_.calls("ov_core_get_available_devices"); }

  latebind::test::FakeOpenvino fake_;
  std::optional<platform::TemporaryFolder> system_;
  std::shared_ptr<const VendorCore> core_;
};

TEST_F(DeviceNamesTest, OpensNoPluginForHardwareThatIsNotThere) {
  EXPECT_THAT(names(), ElementsAre("CPU"));
  EXPECT_EQ(lists(), 0);
}

TEST_F(DeviceNamesTest, AreTheVendorsListWhereThereIsSuchHardware) {
  add_pci("0000:00:03.0", "0x030000");
  EXPECT_THAT(names(), ElementsAre("CPU", "GPU"));
  EXPECT_EQ(lists(), 1);
}

TEST_F(DeviceNamesTest, AreTheVendorsListWhereTheSystemDoesNotSay) {
  fs::remove_all(system_->path() / "sys");
  EXPECT_THAT(names(), ElementsAre("CPU", "GPU"));
}

TEST_F(DeviceNamesTest, AreTheVendorsListWhereAFileNamesOtherPlugins) {
  std::ofstream(fake_.folder() / "plugins.xml") << "<ie/>";
  EXPECT_THAT(names(), ElementsAre("CPU", "GPU"));
}

TEST_F(DeviceNamesTest, AreTheVendorsListWhereItsPluginsLieElsewhere) {
  fs::remove(fake_.folder() / "libopenvino_intel_gpu_plugin.so");
  EXPECT_THAT(names(), ElementsAre("CPU", "GPU"));
}

TEST_F(DeviceNamesTest, AreTheVendorsListWhereTheCpuDoesNotAnswer) {
  fake_.script("device NPU\nfail ov_core_get_property * -1 no plugin\n");
  EXPECT_THAT(names(), ElementsAre("NPU"));
}

}  // namespace
}  // namespace latebind::openvino
