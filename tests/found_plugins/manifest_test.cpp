#include "backends/plugin/found/manifest.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace latebind::plugin {
namespace {

using core::StatusCode;
using testing::HasSubstr;

constexpr const char* kWhole =
    R"({"format": 1, "name": "toy", "library": "lib/libtoy.so", "contract": {"least": 1, "most": 3},
        "platform": "linux-x86_64", "version": "1.2", "description": "adds in a loop", "later": [1]})";

// The message for the manifest in which this text is replaced.
std::string mistake(const std::string& part, const std::string& by) {
  std::string text = kWhole;
  const auto at = text.find(part);
  EXPECT_NE(at, std::string::npos) << part;
  text.replace(at, part.size(), by);
  const auto read = parse_manifest(text, "toy.json");
  if (read.ok()) return "no mistake";
  EXPECT_EQ(read.status().code(), StatusCode::kInvalidModel);
  return std::string(read.status().message());
}

TEST(ManifestTest, EveryKeyIsReadAndUnknownOnesAreIgnored) {
  const auto read = parse_manifest(kWhole, "toy.json");
  ASSERT_TRUE(read.ok()) << read.status().to_string();
  EXPECT_EQ(*read, (Manifest{"toy", "lib/libtoy.so", 1, 3, "linux-x86_64", "1.2", "adds in a loop"}));
  const auto again = parse_manifest(to_json(*read).dump(), "toy.json");
  ASSERT_TRUE(again.ok()) << again.status().to_string();
  EXPECT_EQ(*again, *read);
}

TEST(ManifestTest, VersionAndDescriptionMayBeMissing) {
  const auto read = parse_manifest(
      R"({"format": 1, "name": "t2", "library": "a", "contract": {"least": 1, "most": 1}, "platform": "p"})", "f");
  ASSERT_TRUE(read.ok()) << read.status().to_string();
  EXPECT_EQ(read->version, "");
  EXPECT_EQ(read->description, "");
}

TEST(ManifestTest, AMistakeNamesTheFileAndTheKey) {
  EXPECT_THAT(mistake(R"("name": "toy")", R"("name": 1)"), HasSubstr("toy.json: 'name' must be a string"));
  EXPECT_THAT(mistake(R"("name": "toy")", R"("other": 1)"), HasSubstr("'name' is missing"));
  EXPECT_THAT(mistake(R"("toy")", R"("Toy")"), HasSubstr("'name' must be a lower-case letter"));
  EXPECT_THAT(mistake(R"("lib/libtoy.so")", R"("")"), HasSubstr("'library' is missing or empty"));
  EXPECT_THAT(mistake(R"("lib/libtoy.so")", R"("a\u0000b")"), HasSubstr("'library' must be one line"));
  EXPECT_THAT(mistake(R"({"least": 1, "most": 3})", "1"), HasSubstr("'contract' must be an object"));
  EXPECT_THAT(mistake(R"("least": 1, )", ""), HasSubstr("'contract' has no 'least'"));
  EXPECT_THAT(mistake(R"("most": 3)", R"("most": -3)"), HasSubstr("'most'"));
  EXPECT_THAT(mistake(R"("least": 1)", R"("least": 4)"), HasSubstr("least 4 above most 3"));
  EXPECT_THAT(mistake(R"("linux-x86_64")", "null"), HasSubstr("'platform' is missing"));
  EXPECT_THAT(mistake(R"("1.2")", R"("1.2\n")"), HasSubstr("'version' must be one line"));
  EXPECT_THAT(mistake("1.2", std::string(65, '1')), HasSubstr("'version' is longer than 64 bytes"));
  EXPECT_THAT(mistake(R"("format": 1)", R"("format": 2)"), HasSubstr("format 2; this Latebind reads format 1"));
  EXPECT_THAT(mistake(R"("format": 1, )", ""), HasSubstr("has no 'format'"));
  EXPECT_THAT(mistake("}", "]"), HasSubstr("toy.json"));
}

TEST(ManifestTest, ATextThatIsNoObjectOrTooLongIsRefused) {
  EXPECT_FALSE(parse_manifest("[]", "f").ok());
  EXPECT_FALSE(parse_manifest("", "f").ok());
  EXPECT_FALSE(parse_manifest(std::string(kManifestBytesMax, ' ') + kWhole, "f").ok());
}

TEST(ManifestTest, NamesOfBackendsAreShortWords) {
  for (const char* good : {"a", "toy", "x86_64", "a_"})
    EXPECT_TRUE(is_backend_name(good)) << good;
  for (const char* bad : {"", "1a", "_a", "A", "a-b", "a.b", "a:b", "\xC3\xA9", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"})
    EXPECT_FALSE(is_backend_name(bad)) << bad;
}

}  // namespace
}  // namespace latebind::plugin
