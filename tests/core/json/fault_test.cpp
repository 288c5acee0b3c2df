#include "core/json/fault.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "core/json/parse.h"

namespace latebind::core {
namespace {

using ::testing::HasSubstr;

constexpr std::size_t kDepthMax = 32;
constexpr JsonLimits kLimits{.depth_max = kDepthMax, .big_numbers = BigNumbers::kRefused};

std::string fault_of(std::string_view text) {
  constexpr std::string_view kBefore = "not JSON: ";
  const std::string damage = find_damage(text, kLimits).value_or("not JSON: none");
  EXPECT_TRUE(damage.starts_with(kBefore)) << damage;
  return damage.substr(kBefore.size());
}

struct Case {
  std::string_view text;
  std::string_view words;
};

TEST(JsonFaultTest, NamesTheMistakeItsByteAndTheMemberThatItIsIn) {
  using namespace std::string_view_literals;
  const Case cases[] = {
      {"", "it is empty"},
      {" \r\n", "it is empty"},
      {"\xEF\xBB\xBF{}", "it begins with a byte order mark (EF BB BF): remove it"},
      {"\xFF\xFE{\0}\0"sv, "it is UTF-16: send UTF-8"},
      {"{\0}\0"sv, "it has a zero at byte 1: JSON is UTF-8 without zero bytes"},
      {R"({"input":["a","b\ud800"]})", "'input[1]' has a lone surrogate at byte 16: it is not Unicode text"},
      {R"({"input":"\udc00"})", "'input' has a lone surrogate at byte 10: it is not Unicode text"},
      {R"({"input":"\ud800\u0041"})", "'input' has a lone surrogate at byte 10: it is not Unicode text"},
      {R"({"a":{"b":[[],[1,{"c":"\ud83d\ude00\ud83d"}]]}})", "'a.b[1][1].c' has a lone surrogate at byte 35"},
      {"{\"input\":[\"a\",\"\xC3\"]}", "'input[1]' has invalid UTF-8 at byte 15"},
      {"{\"input\":\"a\nb\"}", "'input' has a control character at byte 11: it must be escaped"},
      {R"({"input":"a\x"})", "'input' has an unknown escape at byte 11"},
      {R"({"input":"a\u12g4"})", "'input' has an unknown escape at byte 11"},
      {R"({"input":["a)", "'input[0]' has no end: the text ends at byte 12"},
      {R"({"input":"a\)", "'input' has no end: the text ends at byte 12"},
      {R"({"input":["a","b")", "'input[1]' has no end: the text ends at byte 17"},
      {R"({"input":["a" "b"]})", "'input[0]' has an unexpected \" at byte 14, expected a comma or ]"},
      {R"({"input":["a",]})", "'input[1]' has an unexpected ] at byte 14, expected a value"},
      {R"({"input":"a","model"})", "it has an unexpected } at byte 20, expected a colon"},
      {R"({input:"a"})", "it has an unexpected i at byte 1, expected the name of a member in double quotes"},
      {R"({'input':"a"})", "it has an unexpected ' at byte 1"},
      {R"({"input":'a'})", "'input' has an unexpected ' at byte 9: strings are written in double quotes"},
      {R"({"input":[1,NaN]})", "'input[1]' has NaN at byte 12: JSON has no such number"},
      {R"({"input":-Infinity})", "'input' has Infinity at byte 9: JSON has no such number"},
      {R"({"input":[1.]})", "'input[0]' has a damaged number at byte 10"},
      {R"({"input":[01]})", "'input[0]' has a number that begins with a zero at byte 10"},
      {R"({"input":[18446744073709551616]})", "'input[0]' has a whole number of more than 64 bits at byte 10"},
      {R"({"input":[-9223372036854775809]})", "'input[0]' has a whole number of more than 64 bits at byte 10"},
      {R"({"a":1}{"a":1})", "it has text after its end at byte 7"},
      {"{\n \"a\": tru}", "'a' has an unexpected t at byte 8 in line 2, expected a value"},
      {"hello", "it has an unexpected h at byte 0, expected a value"},
      {"{\"a\":\x01}", "'a' has an unexpected character at byte 5"},
  };
  for (const Case& one : cases)
    EXPECT_THAT(fault_of(one.text), HasSubstr(one.words)) << one.text;
}

TEST(JsonFaultTest, DepthIsLimited) {
  const auto nested = [](std::size_t depth) { return std::string(depth, '[') + std::string(depth, ']'); };
  EXPECT_EQ(fault_of(nested(kDepthMax)), "none");
  EXPECT_THAT(fault_of(nested(kDepthMax + 1)), HasSubstr("has too many levels at byte 32: at most 32"));
  EXPECT_THAT(fault_of(std::string(100'000, '[')), HasSubstr("has too many levels"));
}

TEST(JsonFaultTest, WhatIsShownOfTheTextIsShortAndPrintable) {
  const std::string found = fault_of("{\"" + std::string(5000, 'x') + "\x7F\":{\"b\":[}");
  EXPECT_LT(found.size(), 300U);
  EXPECT_THAT(fault_of("{\"a\x1B\x7F\":"), HasSubstr("control character at byte 3"));
  EXPECT_THAT(fault_of("{\"a\x7F\":["), HasSubstr("'a\\x7f[0]' has no end"));
}

// What the parser takes has no fault, and what it refuses has one, or the parser's own words.
TEST(JsonFaultTest, AgreesWithTheParser) {
  const std::string whole = R"({"a":[1,-2.5e+3,true,false,null,"\u00e4\ud83d\ude00\n",{}],"b":{"c":[]}, "ä":0})";
  Json json;
  EXPECT_EQ(read_json(whole, kLimits, json), std::nullopt);
  EXPECT_EQ(fault_of(whole), "none");
  for (std::size_t i = 0; i < whole.size(); ++i) {
    for (const char letter : {'\0', '"', '\\', ',', ':', ']', '}', '[', '0', 'x', '\xFF', ' '}) {
      std::string damaged = whole;
      damaged[i] = letter;
      const auto mistake = read_json(damaged, kLimits, json);
      EXPECT_EQ(mistake.has_value(), fault_of(damaged) != "none") << damaged;
    }
    const auto mistake = read_json(whole.substr(0, i), kLimits, json);
    EXPECT_EQ(mistake.has_value(), fault_of(whole.substr(0, i)) != "none") << i;
  }
}

}  // namespace
}  // namespace latebind::core
