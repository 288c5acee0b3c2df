// OutputFolder: there whole, or not at all.
#include "core/platform/output_folder.h"

#include <gtest/gtest.h>

#include <chrono>

#include "tests/platform/support.h"

namespace latebind::platform {
namespace {

using core::StatusCode;
using testing::read_file;
using testing::TemporaryFolder;
using testing::write_file;
using Names = std::vector<std::string>;

TEST(OutputFolderTest, AppearsOnCommit) {
  const TemporaryFolder folder;
  auto output = OutputFolder::create(folder / "new");
  ASSERT_TRUE(output.ok()) << output.status().to_string();
  write_file(output->path() / "file", "content");
  EXPECT_FALSE(std::filesystem::exists(folder / "new"));
  ASSERT_TRUE(output->commit().ok());
  EXPECT_EQ(read_file(folder / "new/file"), "content");
  EXPECT_EQ(folder.names(), Names{"new"});
  EXPECT_EQ(output->commit().code(), StatusCode::kInternal);
}

TEST(OutputFolderTest, LeavesNothingWithoutCommit) {
  const TemporaryFolder folder;
  {
    auto output = OutputFolder::create(folder / "new/");
    ASSERT_TRUE(output.ok());
    write_file(output->path() / "file", "content");
    EXPECT_EQ(folder.names().size(), 1U);
  }
  EXPECT_EQ(folder.names(), Names{});
}

TEST(OutputFolderTest, ReplacesAFolderAndAllThatIsInIt) {
  const TemporaryFolder folder;
  std::filesystem::create_directories(folder / "place/deep");
  write_file(folder / "place/deep/old", "old");
  auto output = OutputFolder::create(folder / "place");
  ASSERT_TRUE(output.ok());
  write_file(output->path() / "new", "new");
  const auto status = output->commit();
  ASSERT_TRUE(status.ok()) << status.to_string();
  EXPECT_FALSE(std::filesystem::exists(folder / "place/deep"));
  EXPECT_EQ(read_file(folder / "place/new"), "new");
  EXPECT_EQ(folder.names(), Names{"place"});
}

TEST(OutputFolderTest, RefusesWhereNoFolderCanBe) {
  const TemporaryFolder folder;
  write_file(folder / "file", "content");
  EXPECT_EQ(OutputFolder::create(folder / "file").status().code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(OutputFolder::create(folder / "none/new").status().code(), StatusCode::kNotFound);
  EXPECT_EQ(OutputFolder::create("").status().code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(OutputFolder::create("/").status().code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(folder.names(), Names{"file"});
}

TEST(OutputFolderTest, DoesNotRemoveWhatIsBeingFilled) {
  const TemporaryFolder folder;
  auto output = OutputFolder::create(folder / "new");
  ASSERT_TRUE(output.ok());
  std::filesystem::last_write_time(output->path(),
                                   std::filesystem::file_time_type::clock::now() - std::chrono::hours(1));
  remove_abandoned_folders(folder.path());
  EXPECT_TRUE(std::filesystem::exists(output->path()));
  EXPECT_TRUE(output->commit().ok());
}

}  // namespace
}  // namespace latebind::platform
