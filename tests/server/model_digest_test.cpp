#include "server/model_digest.h"

#include <gtest/gtest.h>

#include <string>

#include "tests/embedding/support.h"

namespace latebind::server {
namespace {

class ModelDigestTest : public ::testing::Test {
 protected:
  [[nodiscard]] ModelDigest digest(const char* folder) const { return digest_of_model(scratch_.path() / folder, {}); }
  embedding::testing::ScratchFolder scratch_;
};

TEST_F(ModelDigestTest, TheSameFilesHaveTheSameOneWhereverTheyAre) {
  for (const char* folder : {"a", "b"}) {
    scratch_.write(std::string(folder) + "/config.json", "{}");
    scratch_.write(std::string(folder) + "/1_Pooling/config.json", "{ }");
  }
  scratch_.write("b/.git/HEAD", "hidden");
  EXPECT_EQ(digest("a").hex.size(), 64U);
  EXPECT_EQ(digest("a").hex, digest("b").hex);
  EXPECT_EQ(digest("a").bytes, 5U);
}

TEST_F(ModelDigestTest, EveryDifferenceOfASmallFileAndOfALargeOnesLengthCounts) {
  const std::string large(std::size_t{3} << 20, 'x');
  scratch_.write("a/config.json", "{}");
  scratch_.write("a/weights", large);
  const ModelDigest before = digest("a");
  EXPECT_EQ(before.bytes, large.size() + 2);
  scratch_.write("a/config.json", "[]");
  EXPECT_NE(digest("a").hex, before.hex);
  scratch_.write("a/config.json", "{}");
  EXPECT_EQ(digest("a").hex, before.hex);
  scratch_.write("a/weights", large + "x");
  EXPECT_NE(digest("a").hex, before.hex);
  for (const std::size_t at : {std::size_t{0}, large.size() - 1}) {
    std::string changed = large;
    changed[at] = 'y';
    scratch_.write("a/weights", changed);
    EXPECT_NE(digest("a").hex, before.hex) << at;
  }
}

TEST_F(ModelDigestTest, ACommitStandsForTheContents) {
  scratch_.write("a/config.json", "{}");
  const ModelDigest one = digest_of_model(scratch_.path() / "a", std::string(40, 'a'));
  EXPECT_NE(one.hex, digest("a").hex);
  EXPECT_EQ(one.bytes, 2U);
  EXPECT_EQ(one.hex, digest_of_model(scratch_.path() / "none", std::string(40, 'a')).hex);
  EXPECT_EQ(digest_of_model(scratch_.path() / "none", {}).bytes, 0U);
}

}  // namespace
}  // namespace latebind::server
