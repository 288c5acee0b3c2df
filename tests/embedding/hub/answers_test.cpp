// What the hub says, well-formed and not.
#include "embedding/hub/answers.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace latebind::embedding::hub {
namespace {

using core::StatusCode;
using std::chrono::milliseconds;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

const std::string kCommit(40, 'a');

TEST(ModelInfoTest, HasTheCommitAndTheFiles) {
  const auto info = parse_model_info(
      fmt::format(R"({{"sha":"{}","private":false,"cardData":{{"tags":["x"]}},"siblings":[{{"rfilename":"config.json"}},
                  {{"rfilename":"1_Pooling/config.json","size":190}}]}})",
                  kCommit),
      "'org/name'");
  ASSERT_TRUE(info.ok()) << info.status().to_string();
  EXPECT_EQ(info->commit, kCommit);
  EXPECT_THAT(info->files, ElementsAre("config.json", "1_Pooling/config.json"));
}

TEST(ModelInfoTest, LeavesOutNamesThatLeadElsewhere) {
  const auto info = parse_model_info(
      fmt::format(R"({{"sha":"{}","siblings":[{{"rfilename":"../x"}},{{"rfilename":"/x"}},{{"rfilename":".git"}},{{}},
                  {{"rfilename":"a\\b"}},{{"rfilename":null}},{{"rfilename":"x"}}]}})",
                  kCommit),
      "'org/name'");
  ASSERT_TRUE(info.ok()) << info.status().to_string();
  EXPECT_THAT(info->files, ElementsAre("x"));
}

TEST(ModelInfoTest, RefusesWhatIsNoAnswer) {
  for (const std::string& text :
       {std::string(), std::string("<html>"), std::string("[]"), std::string("{}"),
        std::string(R"({"sha":1,"siblings":[]})"), std::string(R"({"sha":"../../x","siblings":[]})"),
        fmt::format(R"({{"sha":"{}"}})", kCommit), fmt::format(R"({{"sha":"{}","siblings":{{}}}})", kCommit),
        fmt::format(R"({{"sha":"{}","siblings":[{{"rfilename":7}}]}})", kCommit), std::string(100, '['),
        fmt::format(R"({{"sha":"{}","siblings":[]}} trailing)", kCommit)}) {
    const auto info = parse_model_info(text, "'org/name'");
    ASSERT_FALSE(info.ok()) << text;
    EXPECT_EQ(info.status().code(), StatusCode::kInvalidModel);
    EXPECT_THAT(info.status().to_string(), HasSubstr("'org/name'")) << text;
  }
  EXPECT_FALSE(parse_model_info(std::string((std::size_t{16} << 20) + 1, ' '), "x").ok());
}

TEST(TreeTest, HasTheNamesOfAKnownFormat) {
  const auto tree =
      parse_tree(R"({"format_version":1,"files":{"a.json":{"size":1,"blob_id":"x"},"b/c":{},"../d":{}}})");
  ASSERT_TRUE(tree.has_value());
  EXPECT_THAT(tree->files, ElementsAre("a.json", "b/c"));
  EXPECT_TRUE(tree->infos.empty());
  for (const char* text : {"", "[]", "{}", R"({"format_version":2,"files":{}})", R"({"format_version":1})",
                           R"({"format_version":1,"files":[]})", R"({"format_version":"1","files":{}})"}) {
    EXPECT_FALSE(parse_tree(text).has_value()) << text;
  }
}

TEST(TreeTest, TellsTheBlobs) {
  const auto tree = parse_tree(fmt::format(R"({{"format_version":1,"files":{{"a":{{"size":1,"blob_id":"{0}"}},
                  "b":{{"size":2,"blob_id":"{0}","lfs_sha256":"{1}","lfs_size":2}},
                  "c":{{"size":2,"blob_id":"{0}","lfs_sha256":"../x"}},"d":{{"blob_id":7}},"e":7}}}})",
                                           kCommit, std::string(64, 'b')));
  ASSERT_TRUE(tree.has_value());
  EXPECT_EQ(tree->infos.size(), 2U);
  EXPECT_EQ(tree->infos.at("a").etag, kCommit);
  EXPECT_EQ(tree->infos.at("a").size, 1U);
  EXPECT_EQ(tree->infos.at("b").etag, std::string(64, 'b'));
}

TEST(ModelInfoTest, TellsTheBlobsOfFiles) {
  const auto info =
      parse_model_info(fmt::format(R"({{"sha":"{0}","siblings":[{{"rfilename":"a","blobId":"{0}","size":1}},
                  {{"rfilename":"b","blobId":"{0}","size":2,"lfs":{{"sha256":"{1}","size":2,"pointerSize":130}}}},
                  {{"rfilename":"c","blobId":"{0}","lfs":{{}}}},{{"rfilename":"d","blobId":"../x"}},
                  {{"rfilename":"e","blobId":"{0}","size":-1,"lfs":null}}]}})",
                                   kCommit, std::string(64, 'b')),
                       "'org/name'");
  ASSERT_TRUE(info.ok()) << info.status().to_string();
  EXPECT_EQ(info->files.size(), 5U);
  EXPECT_EQ(info->infos.size(), 3U);
  EXPECT_EQ(info->infos.at("a").etag, kCommit);
  EXPECT_EQ(info->infos.at("a").size, 1U);
  EXPECT_EQ(info->infos.at("b").etag, std::string(64, 'b'));
  EXPECT_EQ(info->infos.at("b").size, 2U);
  EXPECT_EQ(info->infos.at("e").etag, kCommit);
  EXPECT_FALSE(info->infos.at("e").size.has_value());
}

TEST(FileInfoTest, TakesWhatIsLinkedBeforeWhatIsThere) {
  const core::HttpHeaders headers{
      {"etag", "\"pointer\""}, {"content-length", "130"}, {"x-linked-etag", "\"0a\""}, {"x-linked-size", "90868376"}};
  const auto info = parse_file_info(headers, false);
  ASSERT_TRUE(info.has_value());
  EXPECT_EQ(info->etag, "0a");
  EXPECT_EQ(info->size, 90868376U);
}

TEST(FileInfoTest, TakesTheAnswersOwnSizeOnlyWhenItIsTheFile) {
  const core::HttpHeaders headers{{"etag", "W/\"0b\""}, {"content-length", "130"}};
  EXPECT_EQ(parse_file_info(headers, true)->size, 130U);
  EXPECT_FALSE(parse_file_info(headers, false)->size.has_value());
  EXPECT_EQ(parse_file_info(headers, false)->etag, "0b");
}

TEST(FileInfoTest, RefusesAnEtagThatIsNoName) {
  for (const char* etag : {"", "\"\"", "\"../x\"", "\"a/b\"", "..", "\"a b\"", "W/", "\"\\\\\""}) {
    EXPECT_FALSE(parse_file_info({{"etag", etag}}, true).has_value()) << etag;
  }
  EXPECT_FALSE(parse_file_info({}, true).has_value());
}

TEST(BackoffTest, DoublesUpToACap) {
  EXPECT_EQ(backoff_after(0), milliseconds(500));
  EXPECT_EQ(backoff_after(1), milliseconds(500));
  EXPECT_EQ(backoff_after(2), milliseconds(1000));
  EXPECT_EQ(backoff_after(4), milliseconds(4000));
  EXPECT_EQ(backoff_after(5), milliseconds(8000));
  EXPECT_EQ(backoff_after(4'000'000'000U), milliseconds(8000));
}

}  // namespace
}  // namespace latebind::embedding::hub
