#include <gmock/gmock.h>
#include <grp.h>
#include <gtest/gtest.h>
#include <pwd.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <filesystem>
#include <string>
#include <utility>

#include "core/platform/files/folder_trust.h"
#include "tests/platform/support.h"

namespace latebind::platform {
namespace {

using core::Status;
using core::StatusCode;
using std::filesystem::path;
using ::testing::AllOf;
using ::testing::HasSubstr;
using testing::in_child;
using testing::is_root;
using testing::ScratchFolder;

constexpr unsigned kStranger = 54321;  // in nobody's database

path made(const path& folder, unsigned mode = 0755) {
  std::filesystem::create_directories(folder);
  if (::chmod(folder.c_str(), mode) != 0) throw std::runtime_error("chmod");
  return folder;
}

std::string fault_of(const path& place) {
  const Status status = check_folder_trust(place);
  if (status.ok()) return "trusted";
  EXPECT_EQ(status.code(), StatusCode::kPermissionDenied) << status.to_string();
  return std::string(status.message());
}

TEST(FolderTrustTest, WhatOnlyThisUserMayChangeIsTrusted) {
  const ScratchFolder folder;
  const path inner = made(folder / "a/b");
  EXPECT_EQ(fault_of(inner), "trusted");
  EXPECT_EQ(fault_of(made(folder / "closed", 0700)), "trusted");
  testing::write_file(inner / "file", "x");
  EXPECT_EQ(fault_of(inner / "file"), "trusted");
  EXPECT_EQ(fault_of("/"), "trusted");
  EXPECT_EQ(fault_of("/usr"), "trusted");
}

TEST(FolderTrustTest, WhatEverybodyMayWriteToIsNot) {
  const ScratchFolder folder;
  const path open = made(folder / "open", 0777);
  const path below = made(open / "a/b");
  EXPECT_THAT(fault_of(open), AllOf(HasSubstr(open.string() + "'"), HasSubstr("every user")));
  EXPECT_THAT(fault_of(below), AllOf(HasSubstr(open.string() + "'"), HasSubstr("every user")));
  testing::write_file(folder / "file", "x");
  ASSERT_EQ(::chmod((folder / "file").c_str(), 0666), 0);
  EXPECT_THAT(fault_of(folder / "file"), HasSubstr("every user"));
}

TEST(FolderTrustTest, AStickyFolderDoesAsAParentAlone) {
  const ScratchFolder folder;
  const path sticky = made(folder / "sticky", 01777);
  EXPECT_EQ(fault_of(made(sticky / "ours")), "trusted");
  EXPECT_THAT(fault_of(sticky), HasSubstr("every user"));
}

TEST(FolderTrustTest, WhatBelongsToAnotherUserIsNot) {
  if (!is_root()) GTEST_SKIP() << "only root can give a folder away";
  const ScratchFolder folder;
  const path sticky = made(folder / "sticky", 01777);
  const path theirs = made(sticky / "theirs");
  const path below = made(theirs / "a");
  ASSERT_EQ(::chown(theirs.c_str(), kStranger, 0), 0);
  EXPECT_THAT(fault_of(theirs), AllOf(HasSubstr(theirs.string() + "'"), HasSubstr("another user (54321)")));
  EXPECT_THAT(fault_of(below), AllOf(HasSubstr(theirs.string() + "'"), HasSubstr("another user (54321)")));
  ASSERT_EQ(::chown(sticky.c_str(), kStranger, 0), 0);
  EXPECT_THAT(fault_of(below), HasSubstr(sticky.string() + "'"));
}

TEST(FolderTrustTest, RootsFoldersAreTrustedByEverybody) {
  if (!is_root()) GTEST_SKIP() << "only root can become somebody else";
  const ScratchFolder folder;
  const path roots = made(folder / "roots");
  EXPECT_EQ(testing::as_nobody([&] { return fault_of(roots); }), "trusted");
  ASSERT_EQ(::chown(roots.c_str(), testing::kNobody, 0), 0);
  EXPECT_EQ(testing::as_nobody([&] { return fault_of(roots); }), "trusted");
  EXPECT_THAT(fault_of(roots), HasSubstr("another user"));
}

TEST(FolderTrustTest, AGroupWithOthersInItMayNotWrite) {
  if (!is_root()) GTEST_SKIP() << "only root can give a folder to any group";
  const ScratchFolder folder;
  const path shared = made(folder / "shared", 0775);
  EXPECT_EQ(fault_of(shared), "trusted");  // root's group
  ASSERT_EQ(::chown(shared.c_str(), 0, kStranger), 0);
  EXPECT_THAT(fault_of(shared), HasSubstr("the group 54321"));
  const struct passwd* nobody = ::getpwuid(testing::kNobody);
  const struct group* theirs = nobody == nullptr ? nullptr : ::getgrgid(nobody->pw_gid);
  if (theirs == nullptr) GTEST_SKIP() << "there is no group of 'nobody'";
  ASSERT_EQ(::chown(shared.c_str(), 0, theirs->gr_gid), 0);
  EXPECT_THAT(fault_of(made(shared / "below")), HasSubstr(std::string("the group '") + theirs->gr_name + "'"));
}

TEST(FolderTrustTest, TheUsersPrivateGroupAndOneWithoutMembersMay) {
  if (!is_root()) GTEST_SKIP() << "only root can become somebody else";
  const ScratchFolder folder;
  const path shared = made(folder / "shared", 0775);
  const struct passwd* daemon = ::getpwnam("daemon");
  const struct group* own = daemon == nullptr ? nullptr : ::getgrgid(daemon->pw_gid);
  if (own == nullptr || std::string(own->gr_name) != "daemon") GTEST_SKIP() << "'daemon' has no group of that name";
  ASSERT_EQ(::chown(shared.c_str(), daemon->pw_uid, daemon->pw_gid), 0);
  EXPECT_EQ(in_child([&, user = daemon->pw_uid, group = daemon->pw_gid] {
              if (::setgroups(0, nullptr) != 0 || ::setgid(group) != 0 || ::setuid(user) != 0) return std::string("no");
              return fault_of(shared);
            }),
            "trusted");
  const struct group* staff = ::getgrnam("staff");
  if (staff == nullptr || *staff->gr_mem != nullptr) GTEST_SKIP() << "there is no group 'staff' without members";
  ASSERT_EQ(::chown(shared.c_str(), 0, staff->gr_gid), 0);
  EXPECT_EQ(fault_of(shared), "trusted");
}

TEST(FolderTrustTest, AGroupMayNotWriteByAnAccessList) {
  const ScratchFolder folder;
  const path shared = made(folder / "shared", 0775);
  // Version 2, then tag, right and number of each: the owner, user 54321, the group, the mask, the others.
  const std::array<std::uint32_t, 11> list = {2,   7U << 16U | 1U,    ~0U, 7U << 16U | 2U,    kStranger, 7U << 16U | 4U,
                                              ~0U, 7U << 16U | 0x10U, ~0U, 5U << 16U | 0x20U, ~0U};
  if (::setxattr(shared.c_str(), "system.posix_acl_access", list.data(), sizeof list, 0) != 0) {
    GTEST_SKIP() << "the file system has no access lists";
  }
  EXPECT_THAT(fault_of(shared), HasSubstr("access list"));
  ASSERT_EQ(::chmod(shared.c_str(), 0755), 0);  // takes the right from all of them
  EXPECT_EQ(fault_of(shared), "trusted");
}

TEST(FolderTrustTest, WhatALinkLeadsThroughIsAskedAsWell) {
  const ScratchFolder folder;
  const path open = made(folder / "open", 0777);
  const path target = made(open / "target");
  const path good = made(folder / "good");
  std::filesystem::create_directory_symlink(target, folder / "absolute");
  std::filesystem::create_directory_symlink("open/target/../../good", folder / "relative");
  std::filesystem::create_directory_symlink("good", folder / "fine");
  std::filesystem::create_directory_symlink("loop", folder / "loop");
  EXPECT_THAT(fault_of(folder / "absolute"), HasSubstr(open.string() + "'"));
  EXPECT_THAT(fault_of(folder / "relative"), HasSubstr(open.string() + "'"));
  EXPECT_EQ(fault_of(folder / "fine"), "trusted");
  EXPECT_EQ(fault_of(folder / "fine/../good/."), "trusted");
  EXPECT_FALSE(check_folder_trust(folder / "loop").ok());
}

TEST(FolderTrustTest, AnothersLinkInASharedFolderIsNotFollowed) {
  if (!is_root()) GTEST_SKIP() << "only root can give a link away";
  const ScratchFolder folder;
  const path sticky = made(folder / "sticky", 01777);
  const path good = made(folder / "good");
  std::filesystem::create_directory_symlink(good, sticky / "link");
  EXPECT_EQ(fault_of(sticky / "link"), "trusted");
  ASSERT_EQ(::lchown((sticky / "link").c_str(), kStranger, kStranger), 0);
  EXPECT_THAT(fault_of(sticky / "link"), AllOf(HasSubstr("sticky/link'"), HasSubstr("link of another user")));
}

TEST(FolderTrustTest, WhatIsNotThereIsJudgedByWhereItWouldBeMade) {
  const ScratchFolder folder;
  EXPECT_EQ(fault_of(made(folder / "sticky", 01777) / "new/deeper"), "trusted");
  EXPECT_EQ(fault_of(folder / "new/deeper"), "trusted");
  EXPECT_THAT(fault_of(made(folder / "open", 0777) / "new/deeper"), HasSubstr("every user"));
}

TEST(PrivateFolderTest, IsForThisUserAloneAndSoAreThoseAboveIt) {
  const ScratchFolder folder;
  const path there = made(folder / "there", 0755);
  const mode_t before = ::umask(0);
  const Status status = make_private_folder(there / "a/b/");
  ::umask(before);
  ASSERT_TRUE(status.ok()) << status.to_string();
  for (const auto& [place, mode] : {std::pair(there, 0755U), {there / "a", 0700U}, {there / "a/b", 0700U}}) {
    struct stat info {};
    ASSERT_EQ(::stat(place.c_str(), &info), 0);
    EXPECT_EQ(info.st_mode & 0777U, mode) << place;
  }
  EXPECT_TRUE(make_private_folder(there / "a/b").ok());
  EXPECT_EQ(check_folder_trust(there / "a/b").code(), StatusCode::kOk);
}

TEST(PrivateFolderTest, IsNotMadeInAHomeThatIsNotThere) {
  const ScratchFolder folder;
  for (const char* name : {"home", "home/"}) {
    const testing::ScopedVariable home("HOME", (folder / name).string());
    EXPECT_EQ(make_private_folder(folder / "home/.cache/latebind").code(), StatusCode::kNotFound);
    EXPECT_FALSE(std::filesystem::exists(folder / "home"));
    EXPECT_TRUE(make_private_folder(folder / "elsewhere").ok());
  }
  const testing::ScopedVariable home("HOME", folder.path().string());
  EXPECT_TRUE(make_private_folder(folder / "home/.cache/latebind").ok());
}

TEST(PrivateFolderTest, CannotBeMadeBelowAFile) {
  const ScratchFolder folder;
  testing::write_file(folder / "file", "x");
  EXPECT_EQ(make_private_folder(folder / "file/a").code(), StatusCode::kNotFound);
  EXPECT_EQ(make_private_folder(folder / "file").code(), StatusCode::kNotFound);
  EXPECT_EQ(make_private_folder("").code(), StatusCode::kInvalidArgument);
}

TEST(FolderTrustTest, ARelativePathBeginsInTheCurrentFolder) {
  const ScratchFolder folder;
  const path open = made(folder / "open", 0777);
  made(open / "inner");
  EXPECT_THAT(in_child([&] {
                std::filesystem::current_path(open);
                return fault_of("inner");
              }),
              HasSubstr(open.string() + "'"));
  EXPECT_EQ(check_folder_trust("").code(), StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace latebind::platform
