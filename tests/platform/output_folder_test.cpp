// OutputFolder: there whole, or not at all.
#include "core/platform/files/output_folder.h"

#include <gtest/gtest.h>

#include <chrono>

#include "core/platform/files/output_file.h"
#include "tests/platform/support.h"

namespace latebind::platform {
namespace {

using core::StatusCode;
using testing::read_file;
using testing::ScratchFolder;
using testing::write_file;
using Names = std::vector<std::string>;

TEST(OutputFolderTest, AppearsOnCommit) {
  const ScratchFolder folder;
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
  const ScratchFolder folder;
  {
    auto output = OutputFolder::create(folder / "new/");
    ASSERT_TRUE(output.ok());
    write_file(output->path() / "file", "content");
    EXPECT_EQ(folder.names().size(), 1U);
  }
  EXPECT_EQ(folder.names(), Names{});
}

TEST(OutputFolderTest, ReplacesAFolderAndAllThatIsInItWhenItMay) {
  const ScratchFolder folder;
  std::filesystem::create_directories(folder / "place/deep");
  write_file(folder / "place/deep/old", "old");
  auto output = OutputFolder::create(folder / "place");
  ASSERT_TRUE(output.ok());
  write_file(output->path() / "new", "new");
  const auto status = output->commit([](const std::filesystem::path& old) {
    EXPECT_EQ(read_file(old / "deep/old"), "old");
    return core::Status();
  });
  ASSERT_TRUE(status.ok()) << status.to_string();
  EXPECT_FALSE(std::filesystem::exists(folder / "place/deep"));
  EXPECT_EQ(read_file(folder / "place/new"), "new");
  EXPECT_EQ(folder.names(), Names{"place"});
}

TEST(OutputFolderTest, KeepsAFolderWithContentThatNobodyKnows) {
  const ScratchFolder folder;
  std::filesystem::create_directories(folder / "place");
  const auto refuse = [](const std::filesystem::path&) {
    return core::Status(StatusCode::kInvalidArgument, "unknown");
  };
  for (const OutputFolder::MayReplace& may_replace : {OutputFolder::MayReplace(), OutputFolder::MayReplace(refuse)}) {
    auto output = OutputFolder::create(folder / "place");
    ASSERT_TRUE(output.ok());
    write_file(output->path() / "new", "new");
    // After everybody has looked.
    write_file(folder / "place/thesis", "a year's work");
    EXPECT_EQ(output->commit(may_replace).code(), StatusCode::kInvalidArgument);
    EXPECT_EQ(read_file(folder / "place/thesis"), "a year's work");
    EXPECT_FALSE(std::filesystem::exists(folder / "place/new"));
    EXPECT_EQ(folder.names(), Names{"place"});
  }
}

TEST(OutputFolderTest, RefusesWhereNoFolderCanBe) {
  const ScratchFolder folder;
  write_file(folder / "file", "content");
  EXPECT_EQ(OutputFolder::create(folder / "file").status().code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(OutputFolder::create(folder / "none/new").status().code(), StatusCode::kNotFound);
  EXPECT_EQ(OutputFolder::create("").status().code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(OutputFolder::create("/").status().code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(folder.names(), Names{"file"});
}

TEST(OutputFolderTest, DoesNotRemoveWhatIsBeingFilled) {
  const ScratchFolder folder;
  auto output = OutputFolder::create(folder / "new");
  ASSERT_TRUE(output.ok());
  std::filesystem::last_write_time(output->path(),
                                   std::filesystem::file_time_type::clock::now() - std::chrono::hours(1));
  remove_abandoned_folders(folder.path());
  EXPECT_TRUE(std::filesystem::exists(output->path()));
  EXPECT_TRUE(output->commit().ok());
}

TEST(OutputFolderTest, RemovesNothingWhoseNameIsNotMadeAsOurs) {
  const ScratchFolder folder;
  const Names others{".latebind-1-0-0000000.tmp", ".latebind-1-x-00000000.tmp", ".latebind-notes.tmp"};
  for (const auto& name : others) {
    write_file(folder / name, "mine");
    std::filesystem::create_directories(folder / ("folder" + name));
    std::filesystem::rename(folder / ("folder" + name), folder / (name + ".tmp"));
  }
  Names all = folder.names();
  for (const auto& name : all)
    std::filesystem::last_write_time(folder / name,
                                     std::filesystem::file_time_type::clock::now() - std::chrono::hours(1));
  remove_abandoned_folders(folder.path());
  EXPECT_EQ(remove_abandoned_outputs(folder.path()), 0U);
  EXPECT_EQ(folder.names(), all);
}

}  // namespace
}  // namespace latebind::platform
