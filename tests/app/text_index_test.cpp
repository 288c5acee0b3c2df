// The index file: what is written is read again, and what is damaged anywhere is refused, or says nothing that is not
// within its files.
#include "app/index/text_index.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>
#include <vector>

#include "core/platform/files/temporary_folder.h"
#include "core/text/quote.h"

namespace latebind::app {
namespace {

IndexedBy by_model() {
  IndexedBy by{.model = "m", .digest = std::string(64, 'a'), .dimension = 2};
  by.options["precision"] = "f32";
  by.options["max_tokens"] = 8;
  return by;
}

struct Texts {
  std::vector<std::uint64_t> begins{0, 5};
  std::vector<std::uint64_t> ends{4, 9};
  std::vector<std::uint64_t> lines{1, 3};
  std::vector<float> vectors{1, 0, 0, 1};

  [[nodiscard]] IndexedTexts view() const {
    return {.begins = begins, .ends = ends, .lines = lines, .vectors = vectors};
  }
};

IndexPart part_of(const std::string& name, const Texts& texts) {
  return {.file = {.name = name, .sha256 = std::string(32, 'x'), .bytes = 10, .modified_ns = 7, .changed_ns = 8},
          .texts = texts.view()};
}

class TextIndexTest : public testing::Test {
 protected:
  void SetUp() override {
    auto folder = platform::TemporaryFolder::create("index-test");
    ASSERT_TRUE(folder.ok());
    folder_.emplace(*std::move(folder));
    file_ = folder_->path() / "index";
  }
  [[nodiscard]] std::string bytes() const {
    std::ifstream stream(file_, std::ios::binary);
    return {std::istreambuf_iterator<char>(stream), {}};
  }
  // Aligned, as a mapping is.
  static core::Result<TextIndex> parse(const std::string& bytes, std::vector<std::uint64_t>& words) {
    words.assign((bytes.size() + 7) / 8, 0);
    std::memcpy(words.data(), bytes.data(), bytes.size());
    return TextIndex::from_bytes(std::as_bytes(std::span(words)).first(bytes.size()), "index");
  }

  std::optional<platform::TemporaryFolder> folder_;
  std::filesystem::path file_;
};

TEST_F(TextIndexTest, ReadsWhatWasWritten) {
  const Texts texts;
  const std::vector<IndexPart> parts{part_of("a", texts), {.file = part_of("b/é.md", texts).file}, part_of("c", texts)};
  ASSERT_TRUE(write_index(file_, by_model(), parts).ok());
  const auto index = TextIndex::open(file_);
  ASSERT_TRUE(index.ok()) << index.status().to_string();
  EXPECT_EQ(index->made_by().difference_from(by_model()), "");
  ASSERT_EQ(index->files().size(), 3U);
  EXPECT_EQ(index->files()[1].name, "b/é.md");
  EXPECT_EQ(index->files()[2].changed_ns, 8);
  EXPECT_EQ(index->text_count(), 4U);
  EXPECT_EQ(index->texts_of(1).size(), 0U);
  const IndexedTexts last = index->texts_of(2);
  EXPECT_TRUE(std::ranges::equal(last.begins, texts.begins));
  EXPECT_TRUE(std::ranges::equal(last.lines, texts.lines));
  EXPECT_TRUE(std::ranges::equal(last.vectors, texts.vectors));
}

TEST_F(TextIndexTest, AnEmptyIndexIsOne) {
  ASSERT_TRUE(write_index(file_, by_model(), {}).ok());
  const auto index = TextIndex::open(file_);
  ASSERT_TRUE(index.ok()) << index.status().to_string();
  EXPECT_EQ(index->text_count(), 0U);
}

TEST_F(TextIndexTest, NamesWhatDiffers) {
  IndexedBy other = by_model();
  other.options["precision"] = "int8";
  EXPECT_NE(other.difference_from(by_model()).find("precision"), std::string::npos);
  other = by_model();
  other.options.erase("max_tokens");
  EXPECT_NE(other.difference_from(by_model()), "");
  EXPECT_NE(by_model().difference_from(other), "");
}

// What the command line says reaches this before anything has looked at it.
TEST_F(TextIndexTest, NamesWhatDiffersWhereItIsNoText) {
  IndexedBy other = by_model();
  other.options["prompt"] = "\xFF\n";
  const std::string difference = other.difference_from(by_model());
  EXPECT_NE(difference.find("prompt"), std::string::npos);
  EXPECT_EQ(core::printable(difference, difference.size()), difference);
  EXPECT_EQ(other.difference_from(other), "");
  IndexedBy replaced = other;
  replaced.options["prompt"] = "\xEF\xBF\xBD\n";
  EXPECT_NE(other.difference_from(replaced), "");
  EXPECT_NE(replaced.difference_from(other), "");
}

TEST_F(TextIndexTest, RefusesTextsOutsideTheirFiles) {
  const auto refused = [&](const Texts& texts, std::uint64_t file_bytes = 10) {
    std::vector<IndexPart> parts{part_of("a", texts)};
    parts.front().file.bytes = file_bytes;
    EXPECT_TRUE(write_index(file_, by_model(), parts).ok());
    const auto index = TextIndex::open(file_);
    return !index.ok() && index.status().message().find("damaged") != std::string::npos;
  };
  EXPECT_FALSE(refused({}));
  EXPECT_TRUE(refused({}, 8));
  EXPECT_TRUE(refused({.begins = {0, 3}}));
  EXPECT_TRUE(refused({.begins = {5, 5}}));
  EXPECT_TRUE(refused({.lines = {0, 1}}));
  EXPECT_TRUE(refused({.lines = {2, 2}}));
  const Texts texts;
  for (const char* second : {"a", "Z", ""}) {
    const std::vector<IndexPart> parts{part_of("a", texts), part_of(second, texts)};
    ASSERT_TRUE(write_index(file_, by_model(), parts).ok());
    EXPECT_FALSE(TextIndex::open(file_).ok()) << second;
  }
}

TEST_F(TextIndexTest, RefusesALaterVersionByName) {
  ASSERT_TRUE(write_index(file_, by_model(), {}).ok());
  std::string text = bytes();
  const auto place = text.find("\"version\":1");
  ASSERT_NE(place, std::string::npos);
  text[place + 10] = '2';
  std::vector<std::uint64_t> words;
  const auto index = parse(text, words);
  ASSERT_FALSE(index.ok());
  EXPECT_EQ(index.status().code(), core::StatusCode::kUnsupported);
}

TEST_F(TextIndexTest, StandsDamageAnywhere) {
  const Texts texts;
  const std::vector<IndexPart> parts{part_of("a", texts), part_of("b", texts)};
  ASSERT_TRUE(write_index(file_, by_model(), parts).ok());
  const std::string whole = bytes();
  std::vector<std::uint64_t> words;
  for (std::size_t i = 0; i < whole.size(); ++i) {
    EXPECT_FALSE(parse(whole.substr(0, i), words).ok()) << i;
    for (const char change : {'\x01', '\x20', '\x80'}) {
      std::string damaged = whole;
      damaged[i] = static_cast<char>(damaged[i] ^ change);
      const auto index = parse(damaged, words);
      if (!index.ok()) continue;
      std::size_t count = 0;
      for (std::size_t file = 0; file < index->files().size(); ++file)
        count += index->texts_of(file).size();
      EXPECT_EQ(count, index->text_count());
    }
  }
}

}  // namespace
}  // namespace latebind::app
