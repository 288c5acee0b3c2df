#include <grp.h>
#include <gtest/gtest.h>
#include <linux/capability.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <map>
#include <sstream>
#include <string>
#include <string_view>
#include <thread>

#include "core/platform/environment.h"
#include "tests/platform/support.h"

namespace latebind::platform {
namespace {

using testing::ScopedVariable;
using testing::ScratchFolder;

TEST(EnvironmentTest, GivesAValueUnlessItIsUnsetOrEmpty) {
  {
    const ScopedVariable set("LATEBIND_PROBE", "a value");
    EXPECT_EQ(environment("LATEBIND_PROBE"), "a value");
    EXPECT_EQ(trusted_environment("LATEBIND_PROBE"), "a value");
  }
  {
    const ScopedVariable empty("LATEBIND_PROBE", "");
    EXPECT_EQ(environment("LATEBIND_PROBE"), std::nullopt);
    EXPECT_EQ(trusted_environment("LATEBIND_PROBE"), std::nullopt);
  }
  const ScopedVariable unset("LATEBIND_PROBE", std::nullopt);
  EXPECT_EQ(environment("LATEBIND_PROBE"), std::nullopt);
  EXPECT_EQ(trusted_environment("LATEBIND_PROBE"), std::nullopt);
}

TEST(EnvironmentTest, TrustsAnOrdinaryProcess) {
  EXPECT_FALSE(is_privileged());
}

// Starts the probe with a hostile environment and gives back what it printed, by the first word of each line.
std::map<std::string, std::string> probe(const std::filesystem::path& program, const ScratchFolder& folder,
                                         bool as_another_user) {
  const auto output = folder / "output";
  testing::write_file(output, "");
  ::chmod(output.c_str(), 0666);
  const auto start = [&] {
    if (std::freopen(output.c_str(), "w", stdout) == nullptr) return std::string("no output");
    const char* const variables[] = {"LATEBIND_PROBE=hostile", "HOME=/tmp/hostile", "XDG_CACHE_HOME=/tmp/hostile",
                                     "XDG_CONFIG_HOME=/tmp/hostile", nullptr};
    const char* const arguments[] = {"/tmp/hostile/program", nullptr};
    ::execve(program.c_str(), const_cast<char* const*>(arguments), const_cast<char* const*>(variables));
    return std::string("not started");
  };
  const std::string failure = as_another_user ? testing::as_nobody(start) : testing::in_child(start);
  EXPECT_EQ(failure, "");

  std::map<std::string, std::string> lines;
  std::istringstream stream(testing::read_file(output));
  for (std::string word, rest; stream >> word && std::getline(stream, rest);)
    lines[word] = rest.substr(1);
  return lines;
}

std::filesystem::path copied_probe(const ScratchFolder& folder) {
  const auto program = std::filesystem::canonical(folder.path()) / "probe";
  std::filesystem::copy_file(PRIVILEGE_PROBE, program);
  return program;
}

TEST(EnvironmentTest, ListensToTheCallerOfAnOrdinaryProgram) {
  const ScratchFolder folder;
  auto lines = probe(copied_probe(folder), folder, false);
  EXPECT_EQ(lines["privileged"], "0");
  EXPECT_EQ(lines["environment"], "hostile");
  EXPECT_EQ(lines["trusted"], "hostile");
  EXPECT_EQ(lines["home"], "/tmp/hostile");
  EXPECT_EQ(lines["cache"], "/tmp/hostile/latebind");
  EXPECT_EQ(lines["config"], "/tmp/hostile/latebind");
}

TEST(EnvironmentTest, TakesItsOwnFileFromNoArgument) {
  const ScratchFolder folder;
  const auto program = copied_probe(folder);
  EXPECT_EQ(probe(program, folder, false)["module"], program.string());
}

TEST(EnvironmentTest, IgnoresTheCallerOfASetuidProgram) {
  if (!testing::is_root()) GTEST_SKIP() << "only root can make a program that another user runs with more rights";
  const ScratchFolder folder;
  struct statvfs mount {};
  ASSERT_EQ(::statvfs(folder.path().c_str(), &mount), 0);
  if ((mount.f_flag & ST_NOSUID) != 0)
    GTEST_SKIP() << folder.path() << " is mounted nosuid, where setuid has no effect";

  for (const mode_t mode : {mode_t{04755}, mode_t{02755}}) {
    const ScratchFolder own;
    const auto program = copied_probe(own);
    // Another owner than root, so that the rights gained here are small ones.
    ASSERT_EQ(::chown(program.c_str(), 1, 1), 0);
    ASSERT_EQ(::chmod(program.c_str(), mode), 0);
    auto lines = probe(program, own, true);
    EXPECT_EQ(lines["privileged"], "1") << std::oct << mode;
    EXPECT_EQ(lines["environment"], "hostile");
    EXPECT_EQ(lines["trusted"], "none");
    for (const char* place : {"home", "cache", "config"}) {
      EXPECT_NE(lines[place], "");
      EXPECT_EQ(lines[place].find("hostile"), std::string::npos) << lines[place];
    }
    EXPECT_EQ(lines["module"], program.string());
  }
}

TEST(EnvironmentTest, ADefaultIsSetWhereNothingIs) {
  EXPECT_EQ(testing::in_child([] {
              ::unsetenv("LB_UNSET");
              ::setenv("LB_SET", "mine", 1);
              ::setenv("LB_EMPTY", "", 1);
              for (const char* name : {"LB_UNSET", "LB_SET", "LB_EMPTY", "LB_UNSET"})
                set_environment_default(name, "default");
              // What others set afterwards is there, too.
              ::setenv("LB_LATER", "later", 1);
              std::map<std::string, std::string> all;
              for (const auto& [name, value] : environment_with_prefix("LB_"))
                all[name] = value;
              return all["LB_UNSET"] + "-" + all["LB_SET"] + "-" + all["LB_EMPTY"] + "-" + all["LB_LATER"] +
                     std::to_string(all.size());
            }),
            "default-mine--later4");
}

TEST(EnvironmentTest, ADefaultMovesNothingThatIsBeingRead) {
  EXPECT_EQ(testing::in_child([] {
              ::setenv("LB_READ", "here", 1);
              std::atomic<bool> done{false};
              std::atomic<int> wrong{0};
              std::thread reader([&] {
                while (!done) {
                  const char* value = std::getenv("LB_READ");
                  if (value == nullptr || std::string_view(value) != "here") ++wrong;
                }
              });
              for (int i = 0; i < 300; ++i)
                set_environment_default(("LB_DEFAULT_" + std::to_string(i)).c_str(), "x");
              done = true;
              reader.join();
              return wrong == 0 ? std::string("read") : std::string("not read");
            }),
            "read");
}

// Here the ids say nothing: only the kernel's word at the start does.
TEST(EnvironmentTest, IgnoresTheCallerOfAProgramWithCapabilities) {
  if (!testing::is_root()) GTEST_SKIP() << "only root can give a program capabilities";
  const ScratchFolder folder;
  const auto program = copied_probe(folder);
  vfs_cap_data capabilities{};
  capabilities.magic_etc = VFS_CAP_REVISION_2 | VFS_CAP_FLAGS_EFFECTIVE;
  capabilities.data[0].permitted = 1U << CAP_NET_BIND_SERVICE;
  if (::setxattr(program.c_str(), "security.capability", &capabilities, XATTR_CAPS_SZ_2, 0) != 0) {
    GTEST_SKIP() << "the file system of " << folder.path() << " keeps no capabilities";
  }
  auto lines = probe(program, folder, true);
  EXPECT_EQ(lines["privileged"], "1");
  EXPECT_EQ(lines["environment"], "hostile");
  EXPECT_EQ(lines["trusted"], "none");
}

TEST(EnvironmentTest, NoticesRightsThatTheProcessChangedItself) {
  if (!testing::is_root()) GTEST_SKIP() << "only root can change its user";
  EXPECT_EQ(testing::in_child([] {
              if (::seteuid(testing::kNobody) != 0) return std::string("failed");
              return std::string(is_privileged() ? "privileged" : "ordinary");
            }),
            "privileged");
  EXPECT_EQ(testing::as_nobody([] { return std::string(is_privileged() ? "privileged" : "ordinary"); }), "ordinary");
}

}  // namespace
}  // namespace latebind::platform
