// The cache's folders, as other tools know them.
#include "embedding/hub/cache_layout.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "core/platform/files/temporary_folder.h"

namespace latebind::embedding::hub {
namespace {

namespace fs = std::filesystem;
using ::testing::UnorderedElementsAre;

const std::string kCachedCommit(40, 'c');
const std::string kEtag(64, 'e');

void write(const fs::path& file, const std::string& text) {
  fs::create_directories(file.parent_path());
  std::ofstream(file, std::ios::binary) << text;
}

std::string read(const fs::path& file) {
  std::ostringstream text;
  text << std::ifstream(file, std::ios::binary).rdbuf();
  return text.str();
}

class CacheLayoutTest : public ::testing::Test {
 protected:
  void SetUp() override { ASSERT_TRUE(temporary_.ok()); }

  const core::Result<platform::TemporaryFolder> temporary_ = platform::TemporaryFolder::create("lb-hub-test");
  const fs::path cache_ = temporary_.ok() ? temporary_->path() : fs::path();
  const fs::path model_ = cache_ / "models--org--name";
  const CacheLayout layout_{cache_, "org/name"};
};

TEST_F(CacheLayoutTest, NamesThePlacesThatOtherToolsKnow) {
  EXPECT_EQ(layout_.blob(kEtag), model_ / "blobs" / kEtag);
  EXPECT_EQ(layout_.partial(kEtag), model_ / "blobs" / (kEtag + ".incomplete"));
  EXPECT_EQ(layout_.lock_file(kEtag), cache_ / ".locks" / "models--org--name" / (kEtag + ".lock"));
  EXPECT_EQ(layout_.file(kCachedCommit, "a/b"), model_ / "snapshots" / kCachedCommit / "a" / "b");
  EXPECT_EQ(layout_.tree(kCachedCommit), model_ / "trees" / (kCachedCommit + ".json"));
}

TEST_F(CacheLayoutTest, RemembersWhatARevisionStoodFor) {
  EXPECT_FALSE(layout_.read_ref("main").has_value());
  ASSERT_TRUE(layout_.write_ref("main", kCachedCommit).ok());
  ASSERT_TRUE(layout_.write_ref("refs/pr/1", kCachedCommit).ok());
  EXPECT_EQ(layout_.read_ref("main"), kCachedCommit);
  EXPECT_EQ(read(model_ / "refs" / "refs" / "pr" / "1"), kCachedCommit);
  ASSERT_TRUE(layout_.write_ref("main", std::string(40, 'd')).ok());
  EXPECT_EQ(layout_.read_ref("main"), std::string(40, 'd'));
}

TEST_F(CacheLayoutTest, WritesNoRefOfACommitToItself) {
  ASSERT_TRUE(layout_.write_ref(kCachedCommit, kCachedCommit).ok());
  EXPECT_FALSE(fs::exists(model_ / "refs"));
}

TEST_F(CacheLayoutTest, BelievesNoDamagedRef) {
  for (const std::string& text :
       {std::string(), std::string("../../x"), std::string(39, 'a'), std::string(5000, 'a')}) {
    write(model_ / "refs" / "main", text);
    EXPECT_FALSE(layout_.read_ref("main").has_value()) << text;
  }
  write(model_ / "refs" / "main", kCachedCommit + "\n");
  EXPECT_EQ(layout_.read_ref("main"), kCachedCommit);
}

TEST_F(CacheLayoutTest, PutsARelativeLinkIntoTheSnapshot) {
  write(layout_.blob(kEtag), "content");
  ASSERT_TRUE(layout_.put(kCachedCommit, "a/b.json", kEtag, true).ok());
  EXPECT_TRUE(layout_.has(kCachedCommit, "a/b.json"));
  EXPECT_EQ(read(layout_.file(kCachedCommit, "a/b.json")), "content");
#ifndef _WIN32
  EXPECT_EQ(fs::read_symlink(layout_.file(kCachedCommit, "a/b.json")), fs::path("../../../blobs") / kEtag);
#endif
  EXPECT_THAT(layout_.files_of(kCachedCommit), UnorderedElementsAre("a/b.json"));
}

TEST_F(CacheLayoutTest, PutsACopyWhereLinksAreNotWanted) {
  write(layout_.blob(kEtag), "content");
  ASSERT_TRUE(layout_.put(kCachedCommit, "b.json", kEtag, false).ok());
  EXPECT_FALSE(fs::is_symlink(layout_.file(kCachedCommit, "b.json")));
  EXPECT_EQ(read(layout_.file(kCachedCommit, "b.json")), "content");
  EXPECT_EQ(read(layout_.blob(kEtag)), "content");
}

TEST_F(CacheLayoutTest, ReplacesALinkThatLeadsNowhere) {
  fs::create_directories(layout_.snapshot(kCachedCommit));
  fs::create_symlink("../../blobs/gone", layout_.file(kCachedCommit, "b.json"));
  EXPECT_FALSE(layout_.has(kCachedCommit, "b.json"));
  EXPECT_TRUE(layout_.files_of(kCachedCommit).empty());
  write(layout_.blob(kEtag), "content");
  for (const bool links : {true, false}) {
    ASSERT_TRUE(layout_.put(kCachedCommit, "b.json", kEtag, links).ok());
    EXPECT_EQ(read(layout_.file(kCachedCommit, "b.json")), "content");
  }
}

TEST_F(CacheLayoutTest, SaysHowAnotherFolderIsChosen) {
  write(cache_ / "file", "");
  const CacheLayout below_a_file(cache_ / "file" / "hub", "org/name");
  const auto status = below_a_file.make_folders();
  ASSERT_FALSE(status.ok());
  EXPECT_NE(status.to_string().find("HF_HUB_CACHE"), std::string::npos) << status.to_string();
  EXPECT_TRUE(layout_.make_folders().ok());
  EXPECT_TRUE(fs::is_directory(cache_ / ".locks" / "models--org--name"));
}

}  // namespace
}  // namespace latebind::embedding::hub
