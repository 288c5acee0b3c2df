// Bundles under what systems and other processes do to them: full disks, killed writers, replaced folders, shared
// pages.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <fstream>
#include <random>
#include <thread>

#include "core/bundle/package.h"
#include "core/bundle/path_rules.h"
#include "tests/bundle/support.h"
#include "tests/platform/support.h"

namespace latebind::core {
namespace {

using platform::testing::in_child;
using platform::testing::is_root;
using std::filesystem::path;
using testing::bytes_of;
using ::testing::HasSubstr;
using testing::names_in;
using testing::read_file;
using testing::small_package;
using testing::write_file;

class PackageSystemTest : public ::testing::Test {
 protected:
  [[nodiscard]] path place(const std::string& name) const { return folder_ / name; }
  const platform::testing::ScratchFolder folder_;
};

std::string name_of_description(const path& bundle) {
  const auto package = Package::open(bundle);
  if (!package.ok()) return package.status().to_string();
  const auto report = package->verify();
  if (!report.ok() || !report->ok()) return "damaged";
  return package->manifest().package_name;
}

PackageWriter named(const std::string& name, std::size_t bytes) {
  PackageWriter writer({.name = name});
  LatebindInfo info;
  info.target = "cpu";
  VariantInput variant{.name = "v", .latebind = info};
  for (int i = 0; i < 5; ++i)
    variant.files.push_back({"file" + std::to_string(i), bytes_of(std::string(bytes / 5, name.at(0)))});
  EXPECT_TRUE(writer.add_variant("c", std::move(variant)).ok());
  return writer;
}

TEST_F(PackageSystemTest, AFolderIsReplacedWhole) {
  ASSERT_TRUE(small_package().write(place("b"), PackageForm::kFolder).ok());
  ASSERT_TRUE(named("new", 100).write(place("b"), PackageForm::kFolder).ok());
  EXPECT_EQ(name_of_description(place("b")), "new");
  EXPECT_FALSE(std::filesystem::exists(place("b") / "model")) << "left over";
  EXPECT_EQ(names_in(folder_.path()), std::vector<std::string>{"b"});
  std::filesystem::create_directory(place("empty"));
  EXPECT_TRUE(named("new", 100).write(place("empty"), PackageForm::kFolder).ok());
  std::filesystem::create_directory_symlink("b", place("link"));
  EXPECT_TRUE(named("third", 100).write(place("link"), PackageForm::kFolder).ok());
  EXPECT_TRUE(std::filesystem::is_symlink(place("link")));
  EXPECT_EQ(name_of_description(place("b")), "third");
}

TEST_F(PackageSystemTest, AFolderThatIsNoBundleIsNotReplaced) {
  write_file(place("home") / "thesis.txt", "years of work");
  EXPECT_EQ(named("new", 100).write(place("home"), PackageForm::kFolder).code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(named("new", 100).write(place("home/thesis.txt"), PackageForm::kFolder).code(),
            StatusCode::kInvalidArgument);
  EXPECT_EQ(named("new", 100).write(place("none/b"), PackageForm::kFolder).code(), StatusCode::kNotFound);
  EXPECT_EQ(read_file(place("home") / "thesis.txt"), "years of work");
  EXPECT_EQ(names_in(folder_.path()), std::vector<std::string>{"home"});
  // A link out of a bundle is nobody's to remove, and neither is one to a folder.
  ASSERT_TRUE(named("old", 100).write(place("b"), PackageForm::kFolder).ok());
  for (const path& target : {place("home/thesis.txt"), place("home")}) {
    std::filesystem::create_symlink(target, place("b/link"));
    const Status status = named("new", 100).write(place("b"), PackageForm::kFolder);
    EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
    EXPECT_THAT(status.to_string(), ::testing::HasSubstr("'link'"));
    std::filesystem::remove(place("b/link"));
  }
}

TEST_F(PackageSystemTest, WhatMayNotBeReplacedStaysAndTheNewOneIsGone) {
  for (const PackageForm form : {PackageForm::kZip, PackageForm::kFolder}) {
    ASSERT_TRUE(named("old", 1000).write(place("bundle"), form).ok());
    std::filesystem::path asked;
    const Status refused = named("new", 1000).write(place("bundle"), form, [&](const std::filesystem::path& old) {
      // Asked last when the new one is complete: then the old one is whole, wherever it lies.
      asked = old;
      EXPECT_EQ(name_of_description(old), "old");
      return old == place("bundle") && form == PackageForm::kFolder ? Status() : Status(StatusCode::kBusy, "not now");
    });
    EXPECT_EQ(refused.code(), StatusCode::kBusy);
    EXPECT_EQ(asked == place("bundle"), form == PackageForm::kZip) << asked;
    EXPECT_EQ(name_of_description(place("bundle")), "old");
    EXPECT_EQ(names_in(folder_.path()), std::vector<std::string>{"bundle"});
    std::filesystem::remove_all(place("bundle"));
  }
}

TEST_F(PackageSystemTest, ABundleIsUnpackedAsItIs) {
  ASSERT_TRUE(small_package().write(place("zip"), PackageForm::kZip).ok());
  ASSERT_TRUE(small_package().write(place("folder"), PackageForm::kFolder).ok());
  const auto zip = Package::open(place("zip"));
  ASSERT_TRUE(zip.ok());
  const Status status = unpack_package(*zip, place("out"));
  ASSERT_TRUE(status.ok()) << status.to_string();
  const auto files = zip->files().list();
  ASSERT_TRUE(files.ok());
  for (const auto& file : *files)
    EXPECT_EQ(read_file(place("out") / file.path), read_file(place("folder") / file.path)) << file.path;
  EXPECT_EQ(unpack_package(*zip, place("out")).code(), StatusCode::kInvalidArgument) << "not empty";
}

// In a mount namespace of its own, so that nobody else sees the small disk, and it goes with the child.
TEST_F(PackageSystemTest, AFullDiskLeavesTheOldBundleAndNothingElse) {
  if (!is_root()) GTEST_SKIP() << "only root can mount a small disk to fill";
  const std::string answer = in_child([&] {
    const char* disk = folder_.path().c_str();
    if (::unshare(CLONE_NEWNS) != 0 || ::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
        ::mount("latebind-test", disk, "tmpfs", 0, "size=1m") != 0) {
      return std::string("no mount");
    }
    if (!named("old", 1000).write(place("zip"), PackageForm::kZip).ok() ||
        !named("old", 1000).write(place("folder"), PackageForm::kFolder).ok()) {
      return std::string("the small ones do not fit");
    }
    std::string seen;
    seen += name_of(named("new", 2 << 20).write(place("zip"), PackageForm::kZip).code());
    seen += " ";
    seen += name_of(named("new", 2 << 20).write(place("folder"), PackageForm::kFolder).code());
    for (const std::string& name : names_in(folder_.path()))
      seen += " " + name + "=" + name_of_description(place(name));
    return seen;
  });
  if (answer == "no mount") GTEST_SKIP() << "this root may not mount (a container without CAP_SYS_ADMIN)";
  EXPECT_EQ(answer, "DISK_FULL DISK_FULL folder=old zip=old");
}

TEST_F(PackageSystemTest, AFileThatIsTooLargeLeavesTheOldBundleAndNothingElse) {
  ASSERT_TRUE(named("old", 1000).write(place("zip"), PackageForm::kZip).ok());
  ASSERT_TRUE(named("old", 1000).write(place("folder"), PackageForm::kFolder).ok());
  const std::string answer = in_child([&] {
    const rlimit limit{100'000, 100'000};
    if (::setrlimit(RLIMIT_FSIZE, &limit) != 0) return std::string("no limit");
    return std::string(name_of(named("new", 1 << 20).write(place("zip"), PackageForm::kZip).code())) + " " +
           std::string(name_of(named("new", 1 << 20).write(place("folder"), PackageForm::kFolder).code()));
  });
  EXPECT_EQ(answer, "IO IO");
  EXPECT_EQ(name_of_description(place("zip")), "old");
  EXPECT_EQ(name_of_description(place("folder")), "old");
  EXPECT_EQ(names_in(folder_.path()), (std::vector<std::string>{"folder", "zip"}));
}

TEST_F(PackageSystemTest, AKilledWriterLeavesOneWholeBundle) {
  std::minstd_rand random(3);
  for (const PackageForm form : {PackageForm::kZip, PackageForm::kFolder}) {
    const path bundle = place(std::string(word_of(form)));
    ASSERT_TRUE(named("old", 200'000).write(bundle, form).ok());
    const PackageWriter one = named("one", 200'000);
    const PackageWriter two = named("two", 200'000);
    int killed = 0;
    for (int i = 0; i < 20; ++i) {
      const pid_t child = ::fork();
      if (child == 0) {
        // Replaces it until it is killed.
        for (;;) {
          static_cast<void>(one.write(bundle, form));
          static_cast<void>(two.write(bundle, form));
        }
      }
      ASSERT_GT(child, 0);
      std::this_thread::sleep_for(std::chrono::microseconds(random() % 20'000));
      ::kill(child, SIGKILL);
      int status = 0;
      ASSERT_EQ(::waitpid(child, &status, 0), child);
      killed += WIFSIGNALED(status) ? 1 : 0;
      const std::string name = name_of_description(bundle);
      ASSERT_TRUE(name == "old" || name == "one" || name == "two") << name;
    }
    EXPECT_EQ(killed, 20);
  }
}

TEST_F(PackageSystemTest, WhatKilledWritersLeftIsRemovedByTheNext) {
  const auto age = [](const path& entry) {
    std::filesystem::last_write_time(entry, std::filesystem::file_time_type::clock::now() - std::chrono::hours(1));
  };
  write_file(place(".latebind-1-0-00000000.tmp"), "half a ZIP");
  write_file(place(".latebind-1-1-00000000.tmp") / "c/v/file", "half a folder");
  write_file(place(".latebind-1-2-00000000.tmp") / "file", "young");
  age(place(".latebind-1-0-00000000.tmp"));
  age(place(".latebind-1-1-00000000.tmp"));
  ASSERT_TRUE(named("new", 100).write(place("zip"), PackageForm::kZip).ok());
  ASSERT_TRUE(named("new", 100).write(place("folder"), PackageForm::kFolder).ok());
  EXPECT_EQ(names_in(folder_.path()), (std::vector<std::string>{".latebind-1-2-00000000.tmp", "folder", "zip"}));
}

// The figures of /proc/self/smaps for the mapping that `address` lies in, in KiB.
std::map<std::string, std::size_t> smaps_of(const void* address) {
  std::ifstream smaps("/proc/self/smaps");
  std::map<std::string, std::size_t> figures;
  bool is_ours = false;
  for (std::string line; std::getline(smaps, line);) {
    std::size_t begin = 0;
    std::size_t end = 0;
    char key[64];
    std::size_t value = 0;
    if (std::sscanf(line.c_str(), "%zx-%zx ", &begin, &end) == 2) {
      is_ours = reinterpret_cast<std::size_t>(address) >= begin && reinterpret_cast<std::size_t>(address) < end;
    } else if (is_ours && std::sscanf(line.c_str(), "%63[^:]: %zu kB", key, &value) == 2) {
      figures[key] = value;
    }
  }
  return figures;
}

// Reads the whole blob; the sum keeps the reads.
std::size_t touch(const SharedBytes& bytes) {
  std::size_t sum = 0;
  for (const std::byte byte : bytes.bytes)
    sum += std::to_integer<std::size_t>(byte);
  return sum;
}

TEST_F(PackageSystemTest, ProcessesShareThePagesOfABundle) {
  constexpr std::size_t kBytes = std::size_t{5} << 20;
  const path bundle = place("zip");
  ASSERT_TRUE(named("new", kBytes).write(bundle, PackageForm::kZip).ok());
  const auto open = [&] {
    const auto package = Package::open(bundle);
    EXPECT_TRUE(package.ok());
    return *package->open_verified_file(package->manifest().components.at(0).variants.at(0), "file2");
  };
  int to_child[2];
  int to_parent[2];
  ASSERT_TRUE(::pipe(to_child) == 0 && ::pipe(to_parent) == 0);
  char byte = 0;
  const pid_t child = ::fork();
  if (child == 0) {
    // Its own opening and mapping of the file, held until the parent has looked.
    const SharedBytes blob = open();
    const bool good = touch(blob) > 0 && ::write(to_parent[1], "x", 1) == 1 && ::read(to_child[0], &byte, 1) == 1;
    ::_exit(good ? 0 : 1);
  }
  ASSERT_EQ(::read(to_parent[0], &byte, 1), 1);
  const SharedBytes blob = open();
  EXPECT_EQ(touch(blob), 'n' * (kBytes / 5));
  auto figures = smaps_of(blob.bytes.data());
  ASSERT_EQ(::write(to_child[1], "x", 1), 1);
  int status = 1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  ASSERT_TRUE(figures.contains("Private_Dirty"));
  EXPECT_EQ(figures["Private_Dirty"], 0U) << "nothing was copied";
  EXPECT_EQ(figures["Anonymous"], 0U);
  // Some systems count the pages of their own file systems as shared whoever maps them; none of them as private here.
  EXPECT_GE(figures["Shared_Clean"] + figures["Shared_Dirty"], kBytes / 5 / 1024);
}

TEST(PathRulesTest, JoinsWhatStaysInside) {
  EXPECT_EQ(*join_package_path("", "a/b", "here"), "a/b");
  EXPECT_EQ(*join_package_path("c", "./a//b/", "here"), "c/a/b");
  EXPECT_EQ(*join_package_path("c", ".", "here"), "c");
  EXPECT_EQ(*join_package_path("", ".", "here"), "");
  EXPECT_FALSE(join_package_path("c", "..", "here").ok());
  EXPECT_FALSE(join_package_path("c", "a/../..", "here").ok());
  EXPECT_FALSE(join_package_path("c", "", "here").ok());
}

TEST(PathRulesTest, KnowsWhatIsBelow) {
  EXPECT_TRUE(is_below("a/b", "a") && is_below("a", "") && is_below("a/b/c", "a/b"));
  EXPECT_FALSE(is_below("ab", "a") || is_below("a", "a") || is_below("a/", "a") || is_below("", ""));
}

TEST(PathRulesTest, MakesNamesOfFolders) {
  EXPECT_EQ(folder_name_of("npu:v73"), "npu-v73");
  EXPECT_EQ(folder_name_of("NPU 4000/1x32"), "npu-4000-1x32");
  for (const char* text : {"", ".", "..", "con", "a.", "\xff", "ü:?"})
    EXPECT_TRUE(check_package_path(folder_name_of(text), "here").ok()) << text << folder_name_of(text);
}

}  // namespace
}  // namespace latebind::core
