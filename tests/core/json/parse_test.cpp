#include "core/json/parse.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "core/json/read.h"

namespace latebind::core {
namespace {

using ::testing::HasSubstr;
using namespace std::string_literals;

std::string message_of(std::string_view text, const JsonLimits& limits = {}) {
  return std::string(parse_json(text, "file", limits).status().message());
}

// Compares with the other library, which sorts members.
void expect_same(const Json& json, const nlohmann::json& other) {
  if (json.is_object()) {
    ASSERT_TRUE(other.is_object());
    ASSERT_EQ(json.size(), other.size());
    for (const auto& [key, value] : json.members())
      expect_same(value, other.at(key));
  } else if (json.is_array()) {
    ASSERT_TRUE(other.is_array());
    ASSERT_EQ(json.size(), other.size());
    for (std::size_t i = 0; i < json.size(); ++i)
      expect_same(json[i], other[i]);
  } else if (json.is_string()) {
    EXPECT_EQ(json.text(), other.get_ref<const std::string&>());
  } else if (json.is_number()) {
    EXPECT_EQ(json.is_number_integer(), other.is_number_integer());
    EXPECT_EQ(json.get<double>(), other.get<double>());
    if (json.is_number_unsigned()) {
      EXPECT_EQ(json.get<std::uint64_t>(), other.get<std::uint64_t>());
    }
  } else {
    EXPECT_EQ(json.dump(), other.dump());
  }
}

TEST(JsonParseTest, ReadsEveryKindOfValue) {
  const auto json = parse_json(R"( {"a":[1,-2,0.5,1e3,true,false,null,"\u00e4\ud83d\ude00\n",{},[]],"ä":-0} )", "file");
  ASSERT_TRUE(json.ok()) << json.status().to_string();
  EXPECT_EQ(json->dump(), "{\"a\":[1,-2,0.5,1000.0,true,false,null,\"ä\U0001F600\\n\",{},[]],\"ä\":0}");
}

TEST(JsonParseTest, NumbersOfAnySize) {
  const auto number = [](const std::string& text, BigNumbers big_numbers) -> std::optional<Json> {
    Json json;
    if (read_json("[" + text + "]", {.big_numbers = big_numbers}, json)) return std::nullopt;
    return json[0];
  };
  using enum BigNumbers;
  EXPECT_EQ(number("18446744073709551615", kRefused), Json(18446744073709551615U));
  EXPECT_EQ(number("18446744073709551616", kRefused), std::nullopt);
  EXPECT_EQ(number("18446744073709551616", kDoubles), Json(18446744073709551616.0));
  EXPECT_EQ(number("-9223372036854775809", kDoubles), Json(-9223372036854775809.0));
  // The model_max_length of many tokenizers.
  EXPECT_EQ(number("1000000000000000019884624838656", kDoubles), Json(1e30));
  EXPECT_EQ(number("1e400", kDoubles), std::nullopt);
  EXPECT_EQ(number(std::string(400, '9'), kDoubles), std::nullopt);
  EXPECT_EQ(number("1e400", kAny), Json(0));
  EXPECT_EQ(number(std::string(400, '9'), kAny), Json(0));
  EXPECT_EQ(number("1e-400", kRefused), Json(0.0));
  EXPECT_EQ(number("-0", kRefused), Json(0));
  EXPECT_EQ(number("-0.0", kRefused)->dump(), "-0.0");
  EXPECT_THAT(message_of("{\"a\":[1e400]}"), HasSubstr("not JSON: 'a[0]' has a number that is too large at byte 6"));
}

TEST(JsonParseTest, BigNumbersLeaveStringsAlone) {
  const auto json = parse_json(R"({"a":"18446744073709551616 \"","b":18446744073709551616,"\\":"1e400"})", "file");
  ASSERT_TRUE(json.ok()) << json.status().to_string();
  EXPECT_EQ((*json)["a"], "18446744073709551616 \"");
  EXPECT_EQ((*json)["b"].get<double>(), 18446744073709551616.0);
  EXPECT_EQ((*json)["\\"], "1e400");
  EXPECT_THAT(message_of(R"({"b":18446744073709551616,"a":})"), HasSubstr("unexpected } at byte 30"));
}

TEST(JsonParseTest, RepeatedKeys) {
  const auto read = [](std::string_view text, RepeatedKeys repeated_keys) {
    Json json;
    const auto mistake = read_json(text, {.repeated_keys = repeated_keys}, json);
    return mistake.value_or(json.dump());
  };
  std::string many = R"({"a":1)";
  for (int i = 0; i < 40; ++i)
    many += ",\"k" + std::to_string(i) + "\":0";
  for (const std::string& text : {R"({"a":1,"b":2)"s, many}) {
    EXPECT_THAT(read(text + R"(,"a":[3]})", RepeatedKeys::kFirst), HasSubstr(R"("a":1,)"));
    EXPECT_THAT(read(text + R"(,"\u0061":[3]})", RepeatedKeys::kLast), HasSubstr(R"("a":[3],)"));
    EXPECT_EQ(read(text + R"(,"a":[3]})", RepeatedKeys::kRefused), "the key 'a' occurs twice");
    EXPECT_EQ(read(R"({"x":[)" + text + R"(,"a":3}]})", RepeatedKeys::kRefused), "the key 'a' occurs twice");
  }
}

TEST(JsonParseTest, LimitsHold) {
  const auto nested = [](std::size_t depth) { return std::string(depth, '[') + std::string(depth, ']'); };
  EXPECT_EQ(message_of(nested(4), {.depth_max = 4}), "");
  EXPECT_EQ(message_of(nested(5), {.depth_max = 4}),
            "file: not JSON: '[0][0][0][0]' has too many levels at byte 4: at most 4");
  EXPECT_EQ(message_of("[1,2,3]", {.values_max = 4}), "");
  EXPECT_EQ(message_of("[1,2,3]", {.values_max = 3}), "file: it has more than 3 values");
  EXPECT_EQ(message_of("[1,2]", {.bytes_max = 4}), "file: 5 bytes of JSON are above the limit of 4");
  EXPECT_THAT(message_of(std::string(1'000'000, '[')), HasSubstr("too many levels at byte 32"));
}

TEST(JsonParseTest, AnObjectOfManyKeysTakesNoQuadraticTime) {
  std::string text = "{";
  for (int i = 0; i < 100'000; ++i)
    text += "\"" + std::to_string(i) + "\":0,";
  EXPECT_EQ(message_of(text + "\"x\":0}", {.bytes_max = text.size() * 2}), "");
  EXPECT_EQ(message_of(text + "\"7\":0}", {.bytes_max = text.size() * 2}), "file: the key '7' occurs twice");
}

TEST(JsonParseTest, OneWordingForEveryDamage) {
  EXPECT_EQ(message_of(""), "file: not JSON: it is empty");
  EXPECT_EQ(message_of("{\n \"a\": tru}"),
            "file: not JSON: 'a' has an unexpected t at byte 8 in line 2, expected a value");
  EXPECT_EQ(message_of("7"), "file: expected an object or an array, found a number");
  for (const std::string& text : {"{}\0"s, "{}\0garbage"s, "\0{}"s, "{\"a\":\0 1}"s})
    EXPECT_THAT(message_of(text), HasSubstr("not JSON: ")) << text;
  EXPECT_EQ(message_of("\xEF\xBB\xBF{}"), "");
  EXPECT_THAT(message_of("version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 1\n"),
              HasSubstr("file: a Git LFS pointer"));
}

// Damages valid documents in every way of one byte, and compares each with what the other library says of it.
TEST(JsonParseTest, AgreesWithAnotherLibrary) {
  const std::vector<std::string> documents = {
      R"({"a":[1,-2.5e+3,true,false,null,"\u00e4\ud83d\ude00\n",{}],"b":{"c":[]}, "ä":0, "d":-0, "e":-0.0})",
      R"([[[[{"x":[0.1,1e-7,123456789012345678901234567890,9223372036854775808,1E+2]}]]], "\"\\\/\b\f\r\t"])",
      "\t{\r\n \"\xF0\x9F\x98\x80\" : [ ] , \"\\u0000\" : \"\\u007f\x7f\" }\n"};
  std::mt19937 random(7);
  std::size_t valid = 0;
  const auto compare = [&valid](const std::string& text) {
    Json json;
    const auto mistake = read_json(text, {.repeated_keys = RepeatedKeys::kLast}, json);
    // It takes a zero byte for the end, and a byte order mark for nothing.
    const bool is_comparable = text.find('\0') == std::string::npos && !text.starts_with("\xEF\xBB\xBF");
    const auto other = nlohmann::json::parse(text, nullptr, /*allow_exceptions=*/false);
    if (is_comparable) {
      ASSERT_EQ(mistake.has_value(), other.is_discarded()) << text << "\n" << mistake.value_or("");
    }
    if (mistake) {
      ASSERT_EQ(find_damage(text, {}), mistake) << text;
      return;
    }
    ++valid;
    ASSERT_NO_FATAL_FAILURE(expect_same(json, other)) << text;
    Json again;
    ASSERT_EQ(read_json(json.dump(), {}, again), std::nullopt) << json.dump();
    ASSERT_EQ(again, json) << text;
    ASSERT_NO_FATAL_FAILURE(expect_same(again, nlohmann::json::parse(json.dump(2))));
  };
  constexpr std::string_view kBytes("\0\"\\,:]}[{0129eE+-.xu/\xFF\xC3\xED\xA0 \n\x1f", 28);
  for (const std::string& document : documents) {
    compare(document);
    for (std::size_t i = 0; i < document.size(); ++i) {
      compare(document.substr(0, i));
      compare(document.substr(0, i) + document.substr(i + 1));
      for (const char byte : kBytes) {
        std::string changed = document;
        changed[i] = byte;
        compare(changed);
        compare(document.substr(0, i) + byte + document.substr(i));
      }
    }
    for (int round = 0; round < 20'000; ++round) {
      std::string changed = document;
      for (int i = 0; i < 3; ++i)
        changed[random() % changed.size()] = kBytes[random() % kBytes.size()];
      compare(changed);
    }
    if (HasFatalFailure()) return;
  }
  EXPECT_GT(valid, 1000U);
}

}  // namespace
}  // namespace latebind::core
