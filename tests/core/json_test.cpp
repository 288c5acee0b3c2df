#include "core/json.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "core/json_text.h"

namespace latebind::core {
namespace {

template <class Json>
class JsonTest : public ::testing::Test {};
using Kinds = ::testing::Types<nlohmann::json, nlohmann::ordered_json>;
TYPED_TEST_SUITE(JsonTest, Kinds);

TYPED_TEST(JsonTest, ValuesOfEveryKindGo) {
  using json = TypeParam;
  json value = json::parse(R"({"a":[1,2.5,-3,true,null,"text",{"b":[[],{}]}],"c":{"d":"e"}})");
  value["binary"] = json::binary({1, 2, 3});
  const json copy = value;
  value = nullptr;
  EXPECT_EQ(copy["a"][6]["b"].size(), 2U);
}

// Deeper than the stack would be.
TYPED_TEST(JsonTest, AValueOfAnyDepthGoes) {
  using json = TypeParam;
  json list;
  json object;
  for (int i = 0; i < 300'000; ++i) {
    json outer = json::array();
    outer.push_back(std::move(list));
    list = std::move(outer);
    json named = json::object();
    named["x"] = std::move(object);
    object = std::move(named);
  }
  EXPECT_EQ(list.size(), 1U);
  EXPECT_EQ(object.size(), 1U);
}

TEST(JsonTextTest, AZeroByteIsNotTheEnd) {
  using namespace std::string_literals;
  EXPECT_TRUE(parse_json("{}", "file").ok());
  for (const std::string& text : {"{}\0"s, "{}\0garbage"s, "\0{}"s, "{\"a\":\0 1}"s}) {
    const auto parsed = parse_json(text, "file");
    EXPECT_EQ(parsed.status().code(), StatusCode::kInvalidModel);
    EXPECT_NE(parsed.status().message().find("a zero byte at byte"), std::string::npos) << parsed.status().message();
  }
}

TEST(JsonTextTest, SaysWhatGitLfsHasNotLoaded) {
  const auto found = parse_json("version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 1\n", "a.json");
  ASSERT_FALSE(found.ok());
  EXPECT_NE(found.status().to_string().find("a.json: a Git LFS pointer"), std::string::npos)
      << found.status().to_string();
}

TEST(JsonTextTest, SaysWhereATextIsNoJsonAndWhatItFound) {
  const auto message = [](std::string_view text) { return std::string(parse_json(text, "file").status().message()); };
  EXPECT_EQ(message(""),
            "file: not JSON at line 1, column 1: unexpected end of input; expected '[', '{', or a literal");
  EXPECT_EQ(message("{\n \"a\": tru}"),
            "file: not JSON at line 2, column 10: invalid literal; last read: '\"a\": tru}'");
}

}  // namespace
}  // namespace latebind::core
