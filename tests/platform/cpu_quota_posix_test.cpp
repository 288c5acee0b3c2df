#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "core/platform/cpu_quota.h"
#include "tests/platform/support.h"

namespace latebind::platform {
namespace {

class CpuQuotaTest : public ::testing::Test {
 protected:
  void write(const std::string& name, const std::string& text) const {
    std::filesystem::create_directories((folder_ / name).parent_path());
    std::ofstream(folder_ / name) << text;
  }
  [[nodiscard]] unsigned of(const std::string& own) const {
    return processors_of_quota(folder_.path(), own).value_or(0);
  }

 private:
  testing::ScratchFolder folder_;
};

TEST_F(CpuQuotaTest, IsThatOfTheContainerRoundedUp) {
  EXPECT_EQ(of("0::/\n"), 0U);
  for (const auto& [text, processors] : {std::pair{"max 100000\n", 0U},
                                         {"150000 100000\n", 2U},
                                         {"200000 100000\n", 2U},
                                         {"1000 100000\n", 1U},
                                         {"0 100000\n", 0U},
                                         {"-1 100000\n", 0U},
                                         {"100000 0\n", 0U},
                                         {"1e30 1\n", 0U},
                                         {"nan 1\n", 0U},
                                         {"x y\n", 0U},
                                         {"", 0U}}) {
    write("cpu.max", text);
    EXPECT_EQ(of("0::/\n"), processors) << text;
    EXPECT_EQ(of(""), processors) << text;
  }
}

TEST_F(CpuQuotaTest, IsTheLeastOfAllGroupsUpToTheRoot) {
  write("cpu.max", "max 100000\n");
  write("a.slice/cpu.max", "300000 100000\n");
  write("a.slice/b.scope/cpu.max", "700000 100000\n");
  EXPECT_EQ(of("1:name=systemd:/elsewhere\n0::/a.slice/b.scope\n"), 3U);
  EXPECT_EQ(of("0::/a.slice"), 3U);
  EXPECT_EQ(of("0::/not/there\n"), 0U);
  EXPECT_EQ(of("0::/../a.slice\n"), 0U);
}

TEST_F(CpuQuotaTest, KnowsTheOlderHierarchy) {
  write("cpu/cpu.cfs_period_us", "100000\n");
  write("cpu/cpu.cfs_quota_us", "-1\n");
  EXPECT_EQ(of("4:cpu,cpuacct:/x\n"), 0U);
  write("cpu/cpu.cfs_quota_us", "250000\n");
  EXPECT_EQ(of("4:cpu,cpuacct:/x\n"), 3U);
  // And groups in it, each by the line of its own hierarchy.
  write("cpu/a.slice/cpu.cfs_period_us", "100000\n");
  write("cpu/a.slice/cpu.cfs_quota_us", "100000\n");
  write("cpu/a.slice/b/cpu.cfs_period_us", "100000\n");
  write("cpu/a.slice/b/cpu.cfs_quota_us", "200000\n");
  EXPECT_EQ(of("4:memory:/x\n5:cpuacct,cpu:/a.slice/b\n0::/\n"), 1U);
  EXPECT_EQ(of("1:cpu:/a.slice\n"), 1U);
  EXPECT_EQ(of("1:cpuset:/a.slice\n2:cpu:/\n"), 3U);
  EXPECT_EQ(of("1:name=cpu:/a.slice\n0::/a.slice\n"), 3U);
  EXPECT_EQ(of("cpu"), 3U);
  EXPECT_EQ(of(":cpu:x\n::\n"), 3U);
}

}  // namespace
}  // namespace latebind::platform
