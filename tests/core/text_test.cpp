#include <gtest/gtest.h>

#include <string>

#include "core/text/one_line.h"
#include "core/text/quote.h"

namespace latebind::core {
namespace {

TEST(OneLineTest, IsHarmlessWhateverTheTextHolds) {
  EXPECT_EQ(one_line("a\n  b\r\n\tc"), "a b c");
  EXPECT_EQ(one_line("\x1B[31mred\x7F"), "?[31mred?");
  EXPECT_EQ(one_line("\n\n"), "");
  EXPECT_EQ(one_line("a \n b"), "a b");
  EXPECT_EQ(one_line("a\n \n b \n"), "a b");
  EXPECT_EQ(one_line("\t a"), "a");
  EXPECT_EQ(one_line("a  b "), "a  b ") << "as a file may be called";
  EXPECT_EQ(one_line("\xC2\x9B"
                     "31mred \xE2\x80\xAE"
                     "der"),
            "?31mred ?der");
  EXPECT_EQ(one_line("a\xFF"
                     "b\xC3"),
            "a?b?");
  EXPECT_EQ(one_line("caf\xC3\xA9 \xF0\x9F\x98\x80"), "caf\xC3\xA9 \xF0\x9F\x98\x80");
}

TEST(QuoteTest, IsOneLineOfUtf8WhateverTheTextHolds) {
  EXPECT_EQ(quoted("caf\xC3\xA9"), "'caf\xC3\xA9'");
  EXPECT_EQ(quoted(""), "''");
  EXPECT_EQ(printable("a\nb\x1B[31m\x7F"), "a\\x0ab\\x1b[31m\\x7f");
  EXPECT_EQ(printable("caf\xC3\xA9 \xFF"), "caf\xC3\xA9 \\xff");
  EXPECT_EQ(printable("\xC2\x9B"
                      "31m\xE2\x80\xA8"),
            "\\xc2\\x9b31m\\xe2\\x80\\xa8");
}

TEST(QuoteTest, CutsBetweenCharacters) {
  EXPECT_EQ(printable("caf\xC3\xA9s", 5), "caf\xC3\xA9…");
  EXPECT_EQ(printable("caf\xC3\xA9s", 4), "caf…");
  EXPECT_EQ(printable("caf\xC3\xA9s", 6), "caf\xC3\xA9s");
  EXPECT_EQ(printable(std::string(200, 'x')).size(), 100 + std::string("…").size());
}

}  // namespace
}  // namespace latebind::core
