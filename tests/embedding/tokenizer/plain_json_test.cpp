// What PlainJson takes, wherever its words of eight and sixteen bytes begin and end.
#include "embedding/tokenizer/plain_json.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

namespace latebind::embedding {
namespace {

// A copy without a byte behind it that may be read: a sanitizer sees one that is.
std::vector<char> alone(const std::string& text) {
  return {text.begin(), text.end()};
}

std::string_view view(const std::vector<char>& bytes) {
  return {bytes.data(), bytes.size()};
}

TEST(PlainJsonTest, TakesStringsOfAnyLength) {
  const std::string letters = "Ġabcdefghijklmnopqrstuvwxyzéabcdefghijklmnopqrstuvwxyz";
  for (std::size_t size = 0; size <= letters.size(); ++size) {
    for (const std::string behind : {"", ",", ",\"another that is long\"", "\"\\\"\\\"\"\"\"\"\"\"\"\"\"\"\"\""}) {
      const auto bytes = alone('"' + letters.substr(0, size) + '"' + behind);
      PlainJson text(view(bytes));
      const auto taken = text.take_string();
      ASSERT_TRUE(taken) << size << behind;
      EXPECT_EQ(*taken, letters.substr(0, size));
      EXPECT_EQ(text.at(), bytes.data() + size + 2);
    }
  }
}

TEST(PlainJsonTest, LeavesStringsThatAreNotPlain) {
  for (std::size_t before = 0; before < 40; ++before) {
    for (const char inside : {'\\', '\n', '\t', '\0', '\x1F'}) {
      for (const std::size_t behind : {0U, 3U, 20U}) {
        const auto bytes = alone('"' + std::string(before, 'x') + inside + std::string(behind, 'y') + '"');
        EXPECT_FALSE(PlainJson(view(bytes)).take_string()) << before << ' ' << static_cast<int>(inside);
      }
    }
    const auto unclosed = alone('"' + std::string(before, 'x'));
    EXPECT_FALSE(PlainJson(view(unclosed)).take_string()) << before;
  }
}

TEST(PlainJsonTest, BytesThatLookAlikeInHalfAreLetters) {
  // Those of which seven bits are a quotation mark's, an escape's or a control character's.
  const std::string likes = "\xC2\xA2\xC3\x9C\xC2\x80\x7F\x20\x21\x23\x5B\x5D";
  const auto bytes = alone('"' + likes + likes + likes + '"');
  const auto taken = PlainJson(view(bytes)).take_string();
  ASSERT_TRUE(taken);
  EXPECT_EQ(*taken, likes + likes + likes);
}

TEST(PlainJsonTest, SkipsAnySpaces) {
  for (std::size_t first = 0; first < 20; ++first) {
    for (std::size_t second = 0; second < 20; ++second) {
      for (const std::string between : {"", "\n", "\r\n", "\t"}) {
        const auto bytes = alone(std::string(first, ' ') + between + std::string(second, ' ') + "[42");
        PlainJson text(view(bytes));
        ASSERT_TRUE(text.take('[')) << first << ' ' << second;
        EXPECT_EQ(text.take_whole_number(), 42U);
        EXPECT_EQ(text.at(), bytes.data() + bytes.size());
      }
    }
    const auto spaces = alone(std::string(first, ' '));
    PlainJson text(view(spaces));
    EXPECT_FALSE(text.take(','));
    EXPECT_EQ(text.at(), spaces.data() + spaces.size());
  }
}

}  // namespace
}  // namespace latebind::embedding
