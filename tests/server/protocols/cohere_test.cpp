#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "core/text/base64.h"
#include "tests/server/protocols/fixture.h"

namespace latebind::server {
namespace {

using nlohmann::json;
using testing::expect_near;
using testing::json_of;
using testing::ToyOptions;
using testing::ToyServer;

class CohereTest : public testing::ProtocolTest {
 protected:
  static void expect_refused(const HttpResponse& response, unsigned status, std::string_view reason) {
    expect_one_message(response, status, "message", reason);
  }
};

TEST_F(CohereTest, TheSecondVersionHasVectorsByTheirForms) {
  ToyServer server;
  const json answer =
      json_of(server.post_json("/v2/embed", {{"model", "toy"},
                                             {"texts", {"the cat", "a dog"}},
                                             {"input_type", "classification"},
                                             {"embedding_types", {"float", "base64", "binary", "ubinary", "float"}}}));
  EXPECT_EQ(answer["response_type"], "embeddings_by_type");
  EXPECT_EQ(answer["meta"]["billed_units"]["input_tokens"], 8);
  EXPECT_EQ(answer["meta"]["api_version"]["version"], "2");
  const json& forms = answer["embeddings"];
  EXPECT_EQ(forms.size(), 4U);
  const auto expected = ToyServer::vector_of({2, 9, 11, 3});
  ASSERT_EQ(forms["float"].size(), 2U);
  expect_near(forms["float"][0], expected);
  const auto bytes = core::decode_base64(forms["base64"][0].get<std::string>());
  ASSERT_TRUE(bytes);
  ASSERT_EQ(bytes->size(), expected.size() * sizeof(float));
  float first = 0;
  std::memcpy(&first, bytes->data(), sizeof(first));
  EXPECT_NEAR(first, expected[0], 1e-6);
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const int byte = forms["ubinary"][0][i / 8].get<int>();
    EXPECT_EQ((byte >> (7 - i % 8)) & 1, expected[i] > 0 ? 1 : 0) << i;
    EXPECT_EQ(forms["binary"][0][i / 8].get<int>(), byte - 128);
  }
  EXPECT_EQ(json_of(server.post_json("/v2/embed", {{"texts", {"a"}}}))["embeddings"].size(), 1U);
}

TEST_F(CohereTest, TheFirstVersionHasFloatsAlone) {
  ToyServer server;
  const json answer = json_of(server.post_json("/v1/embed", {{"texts", {"the cat"}}}));
  EXPECT_EQ(answer["response_type"], "embeddings_floats");
  EXPECT_EQ(answer["meta"]["api_version"]["version"], "1");
  ASSERT_EQ(answer["embeddings"].size(), 1U);
  expect_near(answer["embeddings"][0], ToyServer::vector_of({2, 9, 11, 3}));
  const json forms = json_of(server.post_json("/v1/embed", {{"texts", {"a"}}, {"embedding_types", {"float"}}}));
  EXPECT_EQ(forms["response_type"], "embeddings_by_type");
}

TEST_F(CohereTest, AnInputTypeIsARole) {
  ToyServer server(prompt_model());
  const auto vector_for = [&](const char* input_type) {
    return json_of(
        server.post_json("/v2/embed", {{"texts", {"cat"}}, {"input_type", input_type}}))["embeddings"]["float"][0];
  };
  expect_near(vector_for("search_query"), ToyServer::vector_of({2, 9, 11, 3}));
  EXPECT_EQ(vector_for("search_document"), vector_for("clustering"));
  EXPECT_NE(vector_for("search_document"), vector_for("search_query"));
}

TEST_F(CohereTest, AnInputTypeIsThePromptOfItsName) {
  ToyServer server(prompt_model(R"({"prompts":{"Classification":"the ","clustering":"a dog "}})"));
  const auto vector_for = [&](const char* input_type) {
    return json_of(
        server.post_json("/v2/embed", {{"texts", {"cat"}}, {"input_type", input_type}}))["embeddings"]["float"][0];
  };
  expect_near(vector_for("classification"), ToyServer::vector_of({2, 9, 11, 3}));
  EXPECT_NE(vector_for("clustering"), vector_for("classification"));
  EXPECT_NE(vector_for("clustering"), vector_for("search_query"));
}

TEST_F(CohereTest, LongerTextsAreCutWhereTheRequestSays) {
  ToyServer server;
  std::string words = "a dog";
  for (int i = 0; i < 30; ++i)
    words += " cat";
  const auto vector_for = [&](const char* truncate) {
    return json_of(
        server.post_json("/v2/embed", {{"texts", {words}}, {"truncate", truncate}}))["embeddings"]["float"][0];
  };
  EXPECT_EQ(json_of(server.post_json("/v2/embed", {{"texts", {words, "a"}}}))["meta"]["warnings"],
            json({"1 text cut to what the model takes"}));
  EXPECT_FALSE(json_of(server.post_json("/v2/embed", {{"texts", {"a"}}}))["meta"].contains("warnings"));
  EXPECT_NE(vector_for("START"), vector_for("END"));
  EXPECT_EQ(json_of(server.post_json("/v2/embed", {{"texts", {words}}}))["embeddings"]["float"][0], vector_for("END"));
  expect_refused(server.post_json("/v2/embed", {{"texts", {words}}, {"truncate", "NONE"}}), 413,
                 "texts[0]: the text has 34 tokens; at most 20 are taken");
}

TEST_F(CohereTest, BadBodiesAreRefused) {
  ToyOptions options;
  options.limits.texts_max = 2;
  ToyServer server(options);
  expect_refused(server.ask("POST", "/v2/embed", "{"), 400, "not JSON");
  expect_refused(server.post_json("/v2/embed", json::object()), 400, "'texts' is missing");
  expect_refused(server.post_json("/v2/embed", {{"texts", json::array()}}), 400, "must not be empty");
  expect_refused(server.post_json("/v2/embed", {{"texts", {"a", "a", "a"}}}), 400, "at most 2");
  expect_refused(server.post_json("/v2/embed", {{"texts", "a"}}), 400, "'texts'");
  expect_refused(server.post_json("/v2/embed", {{"model", "x"}, {"texts", {"a"}}}), 404, "'x'");
  expect_refused(server.post_json("/v2/embed", {{"texts", {"a"}}, {"input_type", "image"}}), 400,
                 "does not embed images");
  expect_refused(server.post_json("/v2/embed", {{"texts", {"a"}}, {"input_type", "x"}}), 400, "search_query");
  expect_refused(server.post_json("/v2/embed", {{"texts", {"a"}}, {"truncate", "x"}}), 400, "NONE");
  expect_refused(server.post_json("/v2/embed", {{"texts", {"a"}}, {"embedding_types", {"int8"}}}), 400, "int8");
  expect_refused(server.post_json("/v2/embed", {{"texts", {"a"}}, {"embedding_types", "float"}}), 400, "base64");
  expect_refused(server.post_json("/v2/embed", {{"texts", {"a"}}, {"output_dimension", 8}}), 400, "dimensions");
  expect_refused(server.ask("POST", "/v2/chat", "{}"), 404, "does not generate text");
}

}  // namespace
}  // namespace latebind::server
