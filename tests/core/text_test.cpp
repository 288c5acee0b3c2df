#include <gtest/gtest.h>

#include <string>

#include "core/text/one_line.h"
#include "core/text/utf8.h"

namespace latebind::core {
namespace {

using namespace std::string_literals;

TEST(Utf8Test, AcceptsTheLimitsOfEachLength) {
  for (const std::string& text :
       {""s, "a"s, "\x7F"s, "\xC2\x80"s, "\xDF\xBF"s, "\xE0\xA0\x80"s, "\xED\x9F\xBF"s, "\xEE\x80\x80"s,
        "\xEF\xBF\xBF"s, "\xF0\x90\x80\x80"s, "\xF4\x8F\xBF\xBF"s, "\0"s, "eight by\xC3\xA9te words"s}) {
    EXPECT_FALSE(find_invalid_utf8(text)) << text;
  }
}

TEST(Utf8Test, FindsTheFirstBadByte) {
  for (const std::string& bad :
       {"\x80"s, "\xBF"s, "\xC0\x80"s, "\xC1\xBF"s, "\xC2"s, "\xC2x"s, "\xE0\x9F\xBF"s, "\xE1\x80"s, "\xED\xA0\x80"s,
        "\xF0\x8F\xBF\xBF"s, "\xF0\x90\x80"s, "\xF4\x90\x80\x80"s, "\xF5\x80\x80\x80"s, "\xFF"s}) {
    EXPECT_EQ(find_invalid_utf8(bad), 0U);
    EXPECT_EQ(find_invalid_utf8("0123456789\xC3\xA9" + bad), 12U);
    EXPECT_EQ(find_invalid_utf8("a" + bad + "0123456789"), 1U);
  }
}

TEST(Utf8Test, CutsBetweenCharacters) {
  EXPECT_EQ(cut_utf8("a\xC3\xA9z", 4), "a\xC3\xA9z");
  EXPECT_EQ(cut_utf8("a\xC3\xA9z", 3), "a\xC3\xA9");
  EXPECT_EQ(cut_utf8("a\xC3\xA9z", 2), "a");
  EXPECT_EQ(cut_utf8("a\xC3\xA9z", 0), "");
}

TEST(OneLineTest, IsHarmlessWhateverTheTextHolds) {
  EXPECT_EQ(one_line("a\n  b\r\n\tc"), "a b c");
  EXPECT_EQ(one_line("\x1B[31mred\x7F"), "?[31mred?");
  EXPECT_EQ(one_line("\n\n"), "");
  EXPECT_EQ(one_line("caf\xC3\xA9 \xF0\x9F\x98\x80"), "caf\xC3\xA9 \xF0\x9F\x98\x80");
}

}  // namespace
}  // namespace latebind::core
