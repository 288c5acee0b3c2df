#include <gtest/gtest.h>
#include <sched.h>

#include <fstream>
#include <iterator>
#include <map>
#include <set>
#include <sstream>
#include <string>

#include "core/platform/system_info.h"
#include "tests/platform/support.h"

namespace latebind::platform {
namespace {

// The value of the first line of /proc/cpuinfo that begins with `field`.
std::string cpuinfo(const std::string& field) {
  std::ifstream stream("/proc/cpuinfo");
  for (std::string line; std::getline(stream, line);) {
    const auto colon = line.find(": ");
    if (line.starts_with(field) && colon != std::string::npos) return line.substr(colon + 2);
  }
  return {};
}

TEST(SystemInfoTest, NamesTheCpuAsTheKernelDoes) {
  const std::string name = cpuinfo("model name");
  if (name.empty() || name == "unknown") GTEST_SKIP() << "the kernel gives no name for this CPU";
  EXPECT_EQ(cpu_name(), name);
}

#if defined(__x86_64__)
// The kernel and we call them the same. It leaves out what it has switched off, as we do.
TEST(SystemInfoTest, ListsTheInstructionSetsThatTheKernelLists) {
  std::istringstream flags(cpuinfo("flags"));
  const std::set<std::string> kernel{std::istream_iterator<std::string>(flags), {}};
  ASSERT_FALSE(kernel.empty());
  const auto list = cpu_features();
  const std::set<std::string> ours(list.begin(), list.end());
  for (const char* name :
       {"sse4_2", "avx", "f16c", "fma", "avx2", "avx_vnni", "avx512f", "avx512dq", "avx512bw", "avx512vl",
        "avx512_vnni", "avx512_bf16", "avx512_fp16", "amx_tile", "amx_int8", "amx_bf16"}) {
    EXPECT_EQ(ours.count(name), kernel.count(name)) << name;
  }
}
#elif defined(__aarch64__)
// The kernel writes in /proc/cpuinfo, in words of its own, what it says in bits.
TEST(SystemInfoTest, ListsTheInstructionSetsThatTheKernelLists) {
  std::istringstream flags(cpuinfo("Features"));
  const std::set<std::string> kernel{std::istream_iterator<std::string>(flags), {}};
  ASSERT_FALSE(kernel.empty());
  const auto list = cpu_features();
  const std::set<std::string> ours(list.begin(), list.end());
  const std::map<std::string, std::string> words{{"neon", "asimd"}, {"fp16", "asimdhp"}, {"dotprod", "asimddp"},
                                                 {"i8mm", "i8mm"},  {"bf16", "bf16"},    {"sve", "sve"},
                                                 {"sve2", "sve2"},  {"sme", "sme"}};
  for (const auto& [our_word, kernel_word] : words) {
    EXPECT_EQ(ours.count(our_word), kernel.count(kernel_word)) << our_word;
  }
}

TEST(SystemInfoTest, NamesAnArmCpuByItsNumbers) {
  const std::string part = cpuinfo("CPU part");
  if (part.empty() || !cpuinfo("model name").empty()) GTEST_SKIP() << "the kernel gives no number, or a name";
  EXPECT_EQ(cpu_name(), "Arm CPU, implementer " + cpuinfo("CPU implementer") + ", part " + part);
}
#endif

TEST(SystemInfoTest, CountsTheProcessorsOfTheAffinityOnly) {
  EXPECT_GE(usable_processors(), 1U);
  EXPECT_EQ(testing::in_child([] {
              cpu_set_t present;
              if (::sched_getaffinity(0, sizeof(present), &present) != 0) return std::string("failed");
              int first = 0;
              while (!CPU_ISSET(first, &present))
                ++first;
              cpu_set_t one;
              CPU_ZERO(&one);
              CPU_SET(first, &one);
              if (::sched_setaffinity(0, sizeof(one), &one) != 0) return std::string("failed");
              return std::to_string(usable_processors());
            }),
            "1");
}

TEST(SystemInfoTest, SeesMemoryComeAndGo) {
  constexpr std::size_t kSize = std::size_t{64} << 20;
  constexpr std::size_t kMargin = std::size_t{8} << 20;
  const auto before = resident_bytes();
  ASSERT_GT(before, 0U);
  {
    std::string block(kSize, 'x');
    EXPECT_GT(resident_bytes(), before + kSize - kMargin);
    EXPECT_EQ(block[kSize / 2], 'x');
  }
  EXPECT_GT(peak_resident_bytes(), before + kSize - kMargin) << "the peak stays";
  EXPECT_GE(peak_resident_bytes(), resident_bytes());
}

TEST(SystemInfoTest, NamesThePlatform) {
#if defined(__x86_64__)
  EXPECT_EQ(platform_name(), "linux-x86_64");
#elif defined(__aarch64__)
  EXPECT_EQ(platform_name(), "linux-aarch64");
#endif
}

}  // namespace
}  // namespace latebind::platform
