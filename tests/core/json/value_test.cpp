#include "core/json/value.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "core/json/ascii.h"

namespace latebind::core {
namespace {

using namespace std::string_literals;

TEST(JsonValueTest, IsMadeOfAnyValue) {
  EXPECT_EQ(Json().dump(), "null");
  EXPECT_EQ(Json(true).dump(), "true");
  EXPECT_EQ(Json(-7).dump(), "-7");
  EXPECT_EQ(Json(std::numeric_limits<std::uint64_t>::max()).dump(), "18446744073709551615");
  EXPECT_EQ(Json(std::numeric_limits<std::int64_t>::min()).dump(), "-9223372036854775808");
  EXPECT_EQ(Json("text").dump(), "\"text\"");
  EXPECT_EQ(Json(std::vector<int>{1, 2}).dump(), "[1,2]");
  EXPECT_EQ(Json(std::map<std::string, int>{{"b", 1}, {"a", 2}}).dump(), R"({"a":2,"b":1})");
}

TEST(JsonValueTest, AListOfPairsIsAnObject) {
  const Json object{{"b", 1}, {"a", {{"x", Json::array()}}}, {"list", {1, "two"}}};
  EXPECT_EQ(object.dump(), R"({"b":1,"a":{"x":[]},"list":[1,"two"]})");
  EXPECT_EQ(Json::array({{"a", 1}}).dump(), R"([["a",1]])");
  EXPECT_EQ(Json({1, 2}).dump(), "[1,2]");
}

TEST(JsonValueTest, ADoubleStaysOne) {
  EXPECT_EQ(Json(1.0).dump(), "1.0");
  EXPECT_EQ(Json(0.1).dump(), "0.1");
  EXPECT_EQ(Json(1e30).dump(), "1e+30");
  EXPECT_EQ(Json(-0.0).dump(), "-0.0");
  EXPECT_EQ(Json(std::numeric_limits<double>::infinity()).dump(), "null");
  EXPECT_EQ(Json(std::numeric_limits<double>::quiet_NaN()).dump(), "null");
}

TEST(JsonValueTest, MembersKeepTheirOrder) {
  Json json;
  json["z"] = 1;
  json["a"]["b"] = 2;
  json["z"] = "again";
  EXPECT_EQ(json.dump(), R"({"z":"again","a":{"b":2}})");
  EXPECT_TRUE(json.erase("z"));
  EXPECT_FALSE(json.erase("z"));
  EXPECT_EQ(json.size(), 1U);
  json.update(Json{{"c", nullptr}, {"a", 0}});
  EXPECT_EQ(json.dump(), R"({"a":0,"c":null})");
}

TEST(JsonValueTest, WhatIsNotThereIsAbsent) {
  const Json json{{"a", 1}, {"list", Json::array({1})}};
  EXPECT_EQ(json.find("b"), nullptr);
  EXPECT_TRUE(json["b"]["c"].is_null());
  EXPECT_EQ(json["a"].find("x"), nullptr);
  EXPECT_EQ(json["a"].begin(), json["a"].end());
  EXPECT_EQ(json["a"].text(), "");
  EXPECT_EQ(json["list"].get<std::string>(), "");
  EXPECT_EQ(json.value("b", "otherwise"), "otherwise");
  EXPECT_EQ(json.value("a", 7), 1);
}

TEST(JsonValueTest, WholeNumbersHaveTheRangeOfTheirType) {
  EXPECT_EQ(Json(255).whole<std::uint8_t>(), 255);
  EXPECT_EQ(Json(256).whole<std::uint8_t>(), std::nullopt);
  EXPECT_EQ(Json(-1).whole<std::uint64_t>(), std::nullopt);
  EXPECT_EQ(Json(-1).whole<std::int8_t>(), -1);
  EXPECT_EQ(Json(std::numeric_limits<std::uint64_t>::max()).whole<std::int64_t>(), std::nullopt);
  EXPECT_EQ(Json(1.0).whole<int>(), std::nullopt);
}

TEST(JsonValueTest, EqualsByValue) {
  EXPECT_EQ(Json(1), Json(1.0));
  EXPECT_NE(Json(-1), Json(std::numeric_limits<std::uint64_t>::max()));
  EXPECT_NE(Json(0), Json(false));
  EXPECT_EQ((Json{{"a", 1}, {"b", 2}}), (Json{{"b", 2}, {"a", 1}}));
  EXPECT_NE((Json{{"a", 1}}), (Json{{"b", 1}}));
  EXPECT_NE(Json::array({1, 2}), Json::array({2, 1}));
  EXPECT_EQ(Json("a"), "a");
  EXPECT_NE(Json(1), "1");
}

TEST(JsonValueTest, CopiesAndMovesWhole) {
  Json json{{"a", Json::array({1, "text", {{"b", nullptr}}})}};
  const Json copy = json;
  const Json moved = std::move(json);
  EXPECT_EQ(copy, moved);
  Json self = copy;
  self["a"].push_back(self);
  EXPECT_EQ(self["a"][3], copy);
}

TEST(JsonWriteTest, EscapesWhatMustBe) {
  EXPECT_EQ(Json("\"\\\n\r\t\b\f\x01\x7f\0é"s).dump(), "\"\\\"\\\\\\n\\r\\t\\b\\f\\u0001\x7f\\u0000é\"");
  EXPECT_EQ(Json("a\xFFz\xE4\xB8").dump(), "\"a\xEF\xBF\xBDz\xEF\xBF\xBD\"");
}

TEST(JsonWriteTest, WritesAsciiWhereAsked) {
  EXPECT_EQ(ascii_json(Json("aé\u2028\U0001F600\x7F\n").dump()), R"("a\u00e9\u2028\ud83d\ude00\u007f\n")");
}

TEST(JsonWriteTest, Indents) {
  EXPECT_EQ((Json{{"a", Json::array({1, Json::object()})}, {"b", Json::array()}}).dump(2),
            "{\n  \"a\": [\n    1,\n    {}\n  ],\n  \"b\": []\n}");
}

}  // namespace
}  // namespace latebind::core
