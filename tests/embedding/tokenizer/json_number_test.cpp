// Numbers as the reference reads them. Those that are not the nearest double were recorded from it.
#include "embedding/tokenizer/json_number.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <string>

namespace latebind::embedding {
namespace {

double number(std::string_view text) {
  const std::string before(text);
  const auto value = take_json_number(text);
  EXPECT_TRUE(value) << before;
  EXPECT_EQ(text, "") << before;
  return value.value_or(0.0);
}

TEST(JsonNumberTest, ReadsEveryForm) {
  EXPECT_EQ(number("0"), 0.0);
  EXPECT_EQ(number("-12"), -12.0);
  EXPECT_EQ(number("1.5"), 1.5);
  EXPECT_EQ(number("-0.25e1"), -2.5);
  EXPECT_EQ(number("25E-1"), 2.5);
  EXPECT_EQ(number("1e+2"), 100.0);
  EXPECT_EQ(number("1e22"), 1e22);
  EXPECT_EQ(number("-0.0"), 0.0);
  EXPECT_TRUE(std::signbit(number("-0.0")));
  EXPECT_EQ(number("0e99999999999"), 0.0);
  EXPECT_EQ(number("1e-99999999999"), 0.0);
  EXPECT_EQ(number("1e308"), 1e308);
  EXPECT_EQ(number("12345678901234567890123"), 12345678901234567890123.0);
}

TEST(JsonNumberTest, RoundsAsOftenAsTheReference) {
  EXPECT_EQ(number("-10.168529510498047"), -0x1.4564980000001p+3);
  EXPECT_EQ(number("-15.461253079462553"), -0x1.eec295d16f120p+3);
  EXPECT_EQ(number("-11.555895805358887"), -0x1.71c9e60000001p+3);
  EXPECT_EQ(number("-1.3563515905538949e+01"), -0x1.b208528222197p+3);
  EXPECT_EQ(number("-1.408046284660142788425219e+01"), -0x1.c29326d1d6473p+3);
  EXPECT_EQ(number("0.3333333333333333333333333333333"), 0x1.5555555555556p-2);
  EXPECT_EQ(number("2.2250738585072011e-308"), 0x1p-1022);
  EXPECT_EQ(number("1e-310"), 0x0.012688b70e62bp-1022);
}

TEST(JsonNumberTest, RoundsToTheNearestWhereItIsAskedTo) {
  for (const char* text :
       {"-10.168529510498047", "-15.461253079462553", "-11.555895805358887", "-1.408046284660142788e+01",
        "0.3333333333333333333333333333333", "-3", "0", "-0.25", "1e22", "9007199254740993", "2.2250738585072011e-308",
        "1e-310", "123456789012345678901234567890e-40"}) {
    std::string_view rest = text;
    EXPECT_EQ(take_json_number(rest, NumberRounding::kNearest), std::strtod(text, nullptr)) << text;
    EXPECT_EQ(rest, "") << text;
  }
  std::string_view great = "1e309";
  EXPECT_FALSE(take_json_number(great, NumberRounding::kNearest));
  EXPECT_EQ(great, "1e309");
}

TEST(JsonNumberTest, ReadsAsManyDigitsAsThereAre) {
  std::string digits;
  double power = 1;
  for (int count = 1; count <= 19; ++count) {
    digits += static_cast<char>('0' + (count * 7 + 2) % 10);
    power *= 10;
    const auto whole = static_cast<double>(std::stoull(digits));
    EXPECT_EQ(number(digits), whole);
    EXPECT_EQ(number("0." + digits), whole / power);
    EXPECT_EQ(number("-" + digits + "e2"), -whole * 100);
    // What is no digit may stand anywhere among the next eight bytes.
    for (const char* behind : {"]", ",", " ", "/", ":", "]]]]]]]]", ",12345678", "\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF"}) {
      const std::string text = digits + behind;
      std::string_view rest = text;
      EXPECT_EQ(take_json_number(rest), whole) << text;
      EXPECT_EQ(rest, behind);
    }
  }
}

TEST(JsonNumberTest, TakesTheNumberAndNoMore) {
  std::string_view text = "-1.5]";
  EXPECT_EQ(take_json_number(text), -1.5);
  EXPECT_EQ(text, "]");
  for (const std::string_view wrong :
       {"", "-", "+1", ".5", "01", "-01", "1.", "1.e2", "1e", "1e+", "x", "1e309", "-1e400", "1e99999999999"}) {
    std::string_view rest = wrong;
    EXPECT_EQ(take_json_number(rest), std::nullopt) << wrong;
    EXPECT_EQ(rest, wrong);
  }
}

}  // namespace
}  // namespace latebind::embedding
