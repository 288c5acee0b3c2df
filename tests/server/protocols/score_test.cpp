#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/server/protocols/fixture.h"

namespace latebind::server {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;
using testing::json_of;
using testing::ToyOptions;
using testing::ToyServer;

class ScoreTest : public testing::ProtocolTest {};

double cosine_of(const std::vector<float>& a, const std::vector<float>& b) {
  double product = 0;
  for (std::size_t i = 0; i < a.size(); ++i)
    product += static_cast<double>(a[i]) * static_cast<double>(b[i]);
  return product;
}

TEST_F(ScoreTest, AnEmbeddersScoresAreCosines) {
  ToyServer server;
  const auto cat = ToyServer::vector_of({2, 9, 11, 3});
  const auto dog = ToyServer::vector_of({2, 10, 12, 3});
  const json several =
      json_of(server.post_json("/score", {{"model", "toy"}, {"text_1", "the cat"}, {"text_2", {"a dog", "the cat"}}}));
  EXPECT_EQ(several["object"], "list");
  EXPECT_EQ(several["model"], "toy");
  EXPECT_GT(several["usage"]["total_tokens"], 0);
  ASSERT_EQ(several["data"].size(), 2U);
  EXPECT_EQ(several["data"][0]["index"], 0);
  EXPECT_EQ(several["data"][0]["object"], "score");
  EXPECT_NEAR(several["data"][0]["score"].get<double>(), cosine_of(cat, dog), 1e-5);
  EXPECT_NEAR(several["data"][1]["score"].get<double>(), 1, 1e-5);
  const json pairs =
      json_of(server.post_json("/v1/score", {{"text_1", {"the cat", "a dog"}}, {"text_2", {"the cat", "the cat"}}}));
  EXPECT_NEAR(pairs["data"][0]["score"].get<double>(), 1, 1e-5);
  EXPECT_NEAR(pairs["data"][1]["score"].get<double>(), cosine_of(cat, dog), 1e-5);
}

TEST_F(ScoreTest, LongerTextsAreCountedOrNamed) {
  ToyServer server;
  std::string words = "a dog";
  for (int i = 0; i < 30; ++i)
    words += " cat";
  json body{{"text_1", words}, {"text_2", {"a", words}}};
  EXPECT_EQ(json_of(server.post_json("/score", body))["usage"]["truncated_texts"], 2);
  const auto reason_of = [&](json texts) {
    texts["truncate"] = false;
    return json_of(server.post_json("/score", texts))["error"]["message"].get<std::string>();
  };
  EXPECT_THAT(reason_of(body), HasSubstr("text_1: the text has 34 tokens"));
  EXPECT_THAT(reason_of({{"text_1", "a"}, {"text_2", {"a", words}}}), HasSubstr("text_2[1]: the text has 34 tokens"));
  EXPECT_THAT(reason_of({{"text_1", {"a", words}}, {"text_2", {"a", words}}}), HasSubstr("text_1[1]: the text has"));
}

TEST_F(ScoreTest, BadBodiesAreRefusedInOpenAisWords) {
  ToyOptions options;
  options.limits.texts_max = 3;
  ToyServer server(options);
  for (const auto& [body, reason] : std::vector<std::pair<json, const char*>>{
           {json::object(), "'text_1' is missing"},
           {{{"text_1", "a"}}, "'text_2' is missing"},
           {{{"text_1", 1}, {"text_2", "a"}}, "'text_1' must be a string or an array of strings"},
           {{{"text_1", "a"}, {"text_2", json::array()}}, "'text_2' must not be empty"},
           {{{"text_1", {"a", "a"}}, {"text_2", {"a", "a", "a"}}}, "as many as 'text_2' has"},
           {{{"text_1", "a"}, {"text_2", {"a", "a", "a"}}}, "4 texts in one request; at most 3"},
           {{{"text_1", "a"}, {"text_2", {"a", "a", "a", "a"}}}, "at most 3"}}) {
    const HttpResponse response = server.post_json("/score", body);
    EXPECT_EQ(response.status, 400U) << body;
    EXPECT_THAT(json_of(response)["error"]["message"].get<std::string>(), HasSubstr(reason));
  }
  EXPECT_EQ(server.post_json("/score", {{"model", "x"}, {"text_1", "a"}, {"text_2", "a"}}).status, 404U);
}

}  // namespace
}  // namespace latebind::server
