// OutputFolder: what its path means, and who may look into it.
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/platform/files/output_folder.h"
#include "tests/platform/support.h"

namespace latebind::platform {
namespace {

using core::Status;
using core::StatusCode;
using testing::read_file;
using testing::ScratchFolder;
using testing::write_file;
using Names = std::vector<std::string>;

Status write_whole(const std::filesystem::path& place) {
  LB_ASSIGN_OR_RETURN(OutputFolder output, OutputFolder::create(place));
  write_file(output.path() / "new", "new");
  return output.commit([](const std::filesystem::path&) { return Status(); });
}

TEST(OutputFolderPathTest, TwoDotsAfterALinkLeadToWhereTheLinkLeads) {
  const ScratchFolder folder;
  std::filesystem::create_directories(folder / "far/away");
  std::filesystem::create_directory_symlink(folder / "far/away", folder / "link");
  std::filesystem::create_directory(folder / "out");
  write_file(folder / "out/theirs", "theirs");
  ASSERT_TRUE(write_whole(folder / "link/../out").ok());
  EXPECT_EQ(read_file(folder / "out/theirs"), "theirs");
  EXPECT_EQ(read_file(folder / "far/out/new"), "new");
  ASSERT_TRUE(write_whole(folder / "link/../out/").ok()) << "and again, when it is there";
  EXPECT_EQ(folder.names(), (Names{"far", "link", "out"}));
}

TEST(OutputFolderPathTest, TheFolderBehindALinkIsMeantAndTheLinkStays) {
  const ScratchFolder folder;
  std::filesystem::create_directory(folder / "real");
  write_file(folder / "real/old", "old");
  std::filesystem::create_directory_symlink("real/", folder / "link");
  ASSERT_TRUE(write_whole(folder / "link").ok());
  EXPECT_TRUE(std::filesystem::is_symlink(folder / "link"));
  EXPECT_EQ(read_file(folder / "real/new"), "new");
  EXPECT_FALSE(std::filesystem::exists(folder / "real/old"));
  std::filesystem::create_symlink("loop", folder / "loop");
  EXPECT_EQ(write_whole(folder / "loop").code(), StatusCode::kInvalidArgument);
}

TEST(OutputFolderPathTest, NoLinkIsFollowedThatAnotherUserLaidInASharedFolder) {
  if (!testing::is_root()) GTEST_SKIP() << "only root can give a link away";
  const ScratchFolder folder;
  std::filesystem::create_directory(folder / "sticky");
  ASSERT_EQ(::chmod((folder / "sticky").c_str(), 01777), 0);
  std::filesystem::create_directory(folder / "precious");
  std::filesystem::create_directory_symlink(folder / "precious", folder / "sticky/out");
  ASSERT_EQ(::lchown((folder / "sticky/out").c_str(), 54321, 54321), 0);
  EXPECT_EQ(write_whole(folder / "sticky/out").code(), StatusCode::kPermissionDenied);
  EXPECT_FALSE(std::filesystem::exists(folder / "precious/new"));
}

TEST(OutputFolderPathTest, TheCurrentFolderAndThoseAboveItAreNoPlaces) {
  const ScratchFolder folder;
  std::filesystem::create_directories(folder / "above/here");
  const auto told = testing::in_child([&] {
    std::filesystem::current_path(folder / "above/here");
    std::string codes;
    for (const auto& place : {std::filesystem::path("."), std::filesystem::path("../here/"), folder / "above"})
      codes += std::string(core::name_of(write_whole(place).code())) + " ";
    return codes + std::string(core::name_of(write_whole("../beside").code()));
  });
  EXPECT_EQ(told, "INVALID_ARGUMENT INVALID_ARGUMENT INVALID_ARGUMENT OK");
  EXPECT_EQ(read_file(folder / "above/beside/new"), "new");
  EXPECT_TRUE(std::filesystem::is_empty(folder / "above/here"));
}

mode_t rights_of(const std::filesystem::path& folder) {
  struct stat info {};
  return ::stat(folder.c_str(), &info) == 0 ? info.st_mode & 07777U : 0;
}

TEST(OutputFolderRightsTest, AFolderThatIsReplacedKeepsItsOwn) {
  const ScratchFolder folder;
  for (const mode_t rights : {0700U, 0750U, 02775U}) {
    for (const bool has_content : {false, true}) {
      const auto place = folder / "place";
      std::filesystem::create_directory(place);
      if (has_content) write_file(place / "old", "old");
      ASSERT_EQ(::chmod(place.c_str(), rights), 0);
      auto output = OutputFolder::create(place);
      ASSERT_TRUE(output.ok()) << output.status().to_string();
      EXPECT_EQ(rights_of(output->path()) & 0077U, 0U) << "nobody sees more of it meanwhile";
      write_file(output->path() / "new", "new");
      ASSERT_TRUE(output->commit([](const std::filesystem::path&) { return Status(); }).ok());
      EXPECT_EQ(rights_of(place), rights) << has_content;
      EXPECT_EQ(read_file(place / "new"), "new");
      std::filesystem::remove_all(place);
    }
  }
}

TEST(OutputFolderRightsTest, ANewOneGetsThoseOfTheUmask) {
  const ScratchFolder folder;
  const mode_t before = ::umask(0027);
  const Status status = write_whole(folder / "new");
  ::umask(before);
  ASSERT_TRUE(status.ok()) << status.to_string();
  EXPECT_EQ(rights_of(folder / "new"), 0750U);
}

}  // namespace
}  // namespace latebind::platform
