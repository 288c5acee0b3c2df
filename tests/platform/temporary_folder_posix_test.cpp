#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <string>
#include <utility>

#include "core/platform/files/temporary_folder.h"
#include "tests/platform/support.h"

namespace latebind::platform {
namespace {

using core::StatusCode;
using testing::ScopedVariable;

std::filesystem::path path_of(const core::Result<TemporaryFolder>& folder) {
  return folder.ok() ? folder->path() : "";
}

TEST(TemporaryFolderTest, IsPrivateAndGoesWithItsContent) {
  const testing::ScratchFolder base;
  const ScopedVariable place("TMPDIR", base.path().string());
  std::filesystem::path path;
  {
    const auto folder = TemporaryFolder::create("probe");
    ASSERT_TRUE(folder.ok()) << folder.status().to_string();
    path = folder->path();
    EXPECT_EQ(path.parent_path(), base.path());
    EXPECT_EQ(path.filename().string().find("latebind-probe-"), 0U);
    struct stat info {};
    ASSERT_EQ(::stat(path.c_str(), &info), 0);
    EXPECT_EQ(info.st_mode & 07777, 0700U);
    std::filesystem::create_directories(path / "below" / "it");
    testing::write_file(path / "below" / "file", "x");
  }
  EXPECT_TRUE(base.names().empty());
}

TEST(TemporaryFolderTest, IsAnotherOneEachTime) {
  const auto one = TemporaryFolder::create("probe");
  const auto two = TemporaryFolder::create("probe");
  ASSERT_TRUE(one.ok() && two.ok());
  EXPECT_NE(one->path(), two->path());
}

TEST(TemporaryFolderTest, CanBeRemovedEarly) {
  auto folder = TemporaryFolder::create("probe");
  ASSERT_TRUE(folder.ok());
  const auto path = folder->path();
  folder->remove();
  EXPECT_FALSE(std::filesystem::exists(path));
  folder->remove();
}

TEST(TemporaryFolderTest, MovesWhatItRemoves) {
  auto one = TemporaryFolder::create("probe");
  auto two = TemporaryFolder::create("probe");
  ASSERT_TRUE(one.ok() && two.ok());
  const auto first = one->path();
  const auto second = two->path();
  *two = *std::move(one);
  EXPECT_FALSE(std::filesystem::exists(second));
  EXPECT_TRUE(std::filesystem::exists(first));
  {
    const TemporaryFolder last = *std::move(two);
    EXPECT_EQ(last.path(), first);
  }
  EXPECT_FALSE(std::filesystem::exists(first));
}

void make_old(const std::filesystem::path& file) {
  std::filesystem::last_write_time(file, std::filesystem::file_time_type::clock::now() - std::chrono::hours(1));
}

// In a child each, since a process looks once.
TEST(TemporaryFolderTest, WhatAKilledProcessHasLeftGoesWithTheNextOne) {
  const testing::ScratchFolder base;
  const ScopedVariable place("TMPDIR", base.path().string());
  const auto left = testing::in_child([] {
    auto* const folder = new TemporaryFolder(*TemporaryFolder::create("probe"));
    testing::write_file(folder->path() / "file", "x");
    return folder->path().string();
  });
  ASSERT_TRUE(std::filesystem::exists(left + "/file"));
  const auto next = [] { return TemporaryFolder::create("other").ok() ? std::string("made") : std::string(); };
  EXPECT_EQ(testing::in_child(next), "made");
  EXPECT_TRUE(std::filesystem::exists(left)) << "it may be somebody's who has just begun";
  make_old(left + "/.latebind-temporary");
  EXPECT_EQ(testing::in_child(next), "made");
  EXPECT_FALSE(std::filesystem::exists(left));
}

// Killed before the mark was made, or after it was removed.
TEST(TemporaryFolderTest, AnEmptyOneThatAKilledProcessHasLeftGoesAsWell) {
  const testing::ScratchFolder base;
  const ScopedVariable place("TMPDIR", base.path().string());
  const auto next = [] { return TemporaryFolder::create("other").ok() ? std::string("made") : std::string(); };
  const auto private_folder = [&](const char* name) {
    std::filesystem::create_directory(base / name);
    std::filesystem::permissions(base / name, std::filesystem::perms::owner_all);
    return base / name;
  };
  const auto left = private_folder("latebind-probe-a1B2c3");
  EXPECT_EQ(testing::in_child(next), "made");
  EXPECT_TRUE(std::filesystem::exists(left)) << "it may be somebody's who has just begun";
  make_old(left);
  const auto used = private_folder("latebind-probe-d4E5f6");
  testing::write_file(used / "file", "x");
  make_old(used);
  const auto theirs = private_folder("latebind-mine");
  make_old(theirs);
  const auto open = private_folder("latebind-probe-g7H8i9");
  std::filesystem::permissions(open, std::filesystem::perms::others_read, std::filesystem::perm_options::add);
  make_old(open);
  EXPECT_EQ(testing::in_child(next), "made");
  EXPECT_EQ(base.names(),
            (std::vector<std::string>{"latebind-mine", "latebind-probe-d4E5f6", "latebind-probe-g7H8i9"}));
}

TEST(TemporaryFolderTest, LeavesWhatIsInUseOrIsNotOurs) {
  const testing::ScratchFolder base;
  const ScopedVariable place("TMPDIR", base.path().string());
  const auto used = TemporaryFolder::create("probe");
  ASSERT_TRUE(used.ok());
  make_old(used->path() / ".latebind-temporary");
  // Somebody's own folder of that name, and one that everybody may look into.
  std::filesystem::create_directory(base / "latebind-models");
  std::filesystem::permissions(base / "latebind-models", std::filesystem::perms::owner_all);
  testing::write_file(base / "latebind-models/file", "x");
  std::filesystem::create_directory(base / "latebind-open");
  testing::write_file(base / "latebind-open/.latebind-temporary", "");
  make_old(base / "latebind-open/.latebind-temporary");
  EXPECT_EQ(testing::in_child([] { return std::string(TemporaryFolder::create("other").ok() ? "made" : ""); }), "made");
  EXPECT_TRUE(std::filesystem::exists(used->path()));
  EXPECT_TRUE(std::filesystem::exists(base / "latebind-models/file"));
  EXPECT_TRUE(std::filesystem::exists(base / "latebind-open"));
}

TEST(TemporaryFolderTest, AForkedChildLeavesItToItsParent) {
  auto folder = TemporaryFolder::create("probe");
  ASSERT_TRUE(folder.ok());
  const auto path = folder->path();
  EXPECT_EQ(testing::in_child([&folder] {
              folder->remove();
              return std::string("removed");
            }),
            "removed");
  EXPECT_TRUE(std::filesystem::exists(path));
}

TEST(TemporaryFolderTest, TakesNoRelativePlace) {
  const ScopedVariable place("TMPDIR", ".");
  const auto folder = TemporaryFolder::create("probe");
  EXPECT_EQ(path_of(folder).parent_path(), "/tmp") << folder.status().to_string();
}

TEST(TemporaryFolderTest, NamesThePlaceThatRefusesIt) {
  const testing::ScratchFolder base;
  {
    const ScopedVariable place("TMPDIR", (base / "missing").string());
    const auto folder = TemporaryFolder::create("probe");
    EXPECT_EQ(folder.status().code(), StatusCode::kNotFound);
    EXPECT_NE(folder.status().to_string().find((base / "missing").string()), std::string::npos);
  }
  const ScopedVariable place("TMPDIR", base.path().string());
  EXPECT_EQ(
      testing::as_nobody([] { return std::string(core::name_of(TemporaryFolder::create("probe").status().code())); }),
      testing::is_root() ? "PERMISSION_DENIED" : "OK");
}

}  // namespace
}  // namespace latebind::platform
