#include <gtest/gtest.h>

#include <chrono>
#include <string>

#include "core/text/ascii.h"
#include "core/text/base64.h"
#include "core/text/markup.h"
#include "core/text/one_line.h"
#include "core/text/pieces.h"
#include "core/text/quote.h"
#include "core/text/utc_time.h"

namespace latebind::core {
namespace {

TEST(AsciiTest, LettersOfAsciiAloneHaveACase) {
  std::string all;
  for (int byte = 0; byte < 256; ++byte)
    all += static_cast<char>(byte);
  std::string expected = all;
  for (std::size_t i = 0; i < 26; ++i)
    expected['A' + i] = static_cast<char>('a' + i);
  EXPECT_EQ(ascii_lowered(all), expected);
  for (const char c : all) {
    const bool is_lower = c >= 'a' && c <= 'z';
    const bool is_upper = c >= 'A' && c <= 'Z';
    EXPECT_EQ(ascii_upper(c), is_lower ? static_cast<char>(c - 32) : c);
    EXPECT_EQ(is_ascii_letter(c), is_lower || is_upper);
    EXPECT_EQ(is_ascii_digit(c), std::string_view("0123456789").find(c) != std::string_view::npos);
  }
}

TEST(AsciiTest, TextsAreTheSameInAnyCaseOfAsciisLetters) {
  EXPECT_TRUE(equals_in_any_case("OpenVINO.dll", "openvino.DLL"));
  EXPECT_FALSE(equals_in_any_case("[", "{")) << "as far from each other as upper and lower case";
  EXPECT_FALSE(equals_in_any_case("\xC3\x89", "\xC3\xA9"));
  EXPECT_FALSE(equals_in_any_case("a", "ab"));
  EXPECT_TRUE(starts_with_in_any_case("HTTP://x", "http://"));
  EXPECT_TRUE(starts_with_in_any_case("a", ""));
  EXPECT_FALSE(starts_with_in_any_case("HTTP:", "http://"));
}

TEST(AsciiTest, HexadecimalDigitsAreOfAnyCase) {
  const std::string_view digits = "0123456789abcdef";
  for (int byte = 0; byte < 256; ++byte) {
    const auto c = static_cast<char>(byte);
    const std::size_t at = digits.find(ascii_lower(c));
    EXPECT_EQ(hexadecimal_digit(c),
              at == std::string_view::npos ? std::nullopt : std::optional(static_cast<unsigned>(at)));
  }
}

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

TEST(MarkupTest, WhatMeansSomethingThereIsEscaped) {
  EXPECT_EQ(escaped_for_markup(R"(a<b>&"c"'d' é)"), "a&lt;b&gt;&amp;&quot;c&quot;&#39;d&#39; é");
  EXPECT_EQ(escaped_for_markup(""), "");
}

TEST(UtcTimeTest, IsRfc3339) {
  using namespace std::chrono_literals;  // NOLINT: a test of times
  const std::chrono::sys_days day = std::chrono::year(2024) / 2 / 29;
  const std::chrono::system_clock::time_point time = day + 13h + 5min + 9s + 42ms;
  EXPECT_EQ(utc_text(time), "2024-02-29T13:05:09Z");
  EXPECT_EQ(utc_text_ms(time), "2024-02-29T13:05:09.042Z");
  // Before 1970 too the second is the one that has begun.
  EXPECT_EQ(utc_text(std::chrono::system_clock::time_point(-1ms)), "1969-12-31T23:59:59Z");
  EXPECT_EQ(utc_text_ms(std::chrono::system_clock::time_point(-1ms)), "1969-12-31T23:59:59.999Z");
}

TEST(Base64Test, WritesWhatItReads) {
  std::string bytes;
  for (int i = 0; i < 260; ++i) {
    std::string text = "=";
    append_base64(text, bytes);
    EXPECT_EQ(decode_base64(text.substr(1)), bytes);
    bytes += static_cast<char>(i * 7);
  }
  std::string text;
  append_base64(text, "fo");
  EXPECT_EQ(text, "Zm8=");
}

TEST(Base64Test, ReadsTheOneFormOfSomeBytes) {
  EXPECT_EQ(decode_base64(""), "");
  EXPECT_EQ(decode_base64("Zg=="), "f");
  EXPECT_EQ(decode_base64("Zm8="), "fo");
  EXPECT_EQ(decode_base64("Zm9v"), "foo");
  EXPECT_EQ(decode_base64("Zm9vYg=="), "foob");
  EXPECT_EQ(decode_base64("+/8A"), std::string("\xFB\xFF\0", 3));
  for (const char* wrong : {"Z", "Zg", "Zg=", "Zm8", "Zm9v=", "====", "=", "Zm9v====", "Z===", "Zg==Zg==", "Zm-_",
                            "Zm9v\n", " Zm9", "Zh==", "Zm9=", "Zg\0="}) {
    EXPECT_EQ(decode_base64(wrong), std::nullopt) << wrong;
  }
}

TEST(PiecesTest, ATextIsTakenApartAtACharacter) {
  std::string_view text = "a,,b";
  EXPECT_EQ(take_until(text, ','), "a");
  EXPECT_EQ(take_until(text, ','), "");
  EXPECT_EQ(text, "b");
  EXPECT_EQ(take_until(text, ','), "b");
  EXPECT_EQ(take_until(text, ','), "");
  EXPECT_EQ(text, "");
  text = "a,";
  EXPECT_EQ(take_until(text, ','), "a");
  EXPECT_TRUE(text.empty());
}

TEST(PiecesTest, BlanksAreTakenFromBothEndsAlone) {
  EXPECT_EQ(trimmed(" \ta b\t ", " \t"), "a b");
  EXPECT_EQ(trimmed("a", " "), "a");
  EXPECT_EQ(trimmed("   ", " "), "");
  EXPECT_EQ(trimmed("", " "), "");
  EXPECT_EQ(trimmed("\ra", " "), "\ra");
}

}  // namespace
}  // namespace latebind::core
