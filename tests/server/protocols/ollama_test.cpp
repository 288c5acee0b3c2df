#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/server/protocols/fixture.h"

namespace latebind::server {
namespace {

using nlohmann::json;
using testing::expect_near;
using testing::json_of;
using testing::ToyOptions;
using testing::ToyServer;

class OllamaTest : public testing::ProtocolTest {
 protected:
  static void expect_refused(const HttpResponse& response, unsigned status, std::string_view reason) {
    expect_one_message(response, status, "error", reason);
  }
};

TEST_F(OllamaTest, EmbedsOneTextOrSeveral) {
  ToyServer server;
  const json many = json_of(server.post_json("/api/embed", {{"model", "toy"}, {"input", {"the cat", "", "a dog"}}}));
  EXPECT_EQ(many["model"], "toy");
  ASSERT_EQ(many["embeddings"].size(), 3U);
  expect_near(many["embeddings"][0], ToyServer::vector_of({2, 9, 11, 3}));
  expect_near(many["embeddings"][1], ToyServer::vector_of({2, 3}));
  EXPECT_EQ(many["prompt_eval_count"], 10);
  EXPECT_GT(many["total_duration"].get<std::int64_t>(), 0);
  EXPECT_EQ(many["load_duration"], 0);
  const json one = json_of(server.post_json("/api/embed", {{"model", "toy"}, {"input", "the cat"}}));
  EXPECT_EQ(one["embeddings"], json::array({many["embeddings"][0]}));
}

TEST_F(OllamaTest, NoTextAsksForTheModelOnly) {
  ToyServer server;
  for (const json& body : {json{{"model", "toy"}}, json{{"model", "toy"}, {"input", ""}},
                           json{{"model", "toy"}, {"input", json::array()}}}) {
    const json found = json_of(server.post_json("/api/embed", body));
    EXPECT_EQ(found["embeddings"], json::array()) << body;
    EXPECT_EQ(found["model"], "toy");
  }
  EXPECT_EQ(json_of(server.post_json("/api/embeddings", {{"model", "toy"}, {"prompt", ""}})),
            json({{"embedding", json::array()}}));
}

TEST_F(OllamaTest, ModelsHaveTheTagLatest) {
  ToyServer server;
  const json body{{"model", "toy:latest"}, {"input", "a"}};
  EXPECT_EQ(json_of(server.post_json("/api/embed", body))["model"], "toy:latest");
  expect_refused(server.post_json("/api/embed", {{"model", "toy:v2"}, {"input", "a"}}), 404, "'toy:v2'");
  expect_refused(server.post_json("/api/embed", {{"model", "other"}, {"input", "a"}}), 404, "'other'");
  ToyServer tagged({.name = "toy:latest"});
  EXPECT_EQ(tagged.post_json("/api/embed", {{"model", "toy"}, {"input", "a"}}).status, 200U);
  EXPECT_EQ(tagged.post_json("/api/embed", {{"model", "toy:latest"}, {"input", "a"}}).status, 200U);
}

TEST_F(OllamaTest, VectorsOfTheOlderPathAreAsTheModelGivesThem) {
  ToyServer server(raw_model());
  const auto expected = ToyServer::vector_of({2, 10, 12, 3});
  expect_near(json_of(server.post_json("/api/embed", {{"model", "toy"}, {"input", "a dog"}}))["embeddings"][0],
              expected);
  expect_near(json_of(server.post_json("/api/embeddings", {{"model", "toy"}, {"prompt", "a dog"}}))["embedding"],
              expected, 2);
}

TEST_F(OllamaTest, LongerTextsAreCutUnlessTheyMayNot) {
  ToyOptions options;
  options.limits.auto_truncate = false;  // its clients expect that they are
  ToyServer server(options);
  std::string words;
  for (int i = 0; i < 30; ++i)
    words += "cat ";
  EXPECT_EQ(server.post_json("/api/embed", {{"model", "toy"}, {"input", words}}).status, 200U);
  expect_refused(server.post_json("/api/embed", {{"model", "toy"}, {"input", words}, {"truncate", false}}), 400,
                 "tokens; at most 20 are taken");
}

TEST_F(OllamaTest, FewerDimensionsAreNormalizedAgain) {
  ToyOptions options;
  options.limits.allow_dimensions = true;
  ToyServer server(options);
  auto expected = ToyServer::vector_of({2, 10, 3});
  expected.resize(8);
  embedding::normalize(expected);
  const json body{
      {"model", "toy"}, {"input", "a"}, {"dimensions", 8}, {"options", {{"seed", 1}}}, {"keep_alive", "5m"}};
  expect_near(json_of(server.post_json("/api/embed", body))["embeddings"][0], expected);
  EXPECT_EQ(server.post_json("/api/embed", {{"model", "toy"}, {"input", "a"}, {"dimensions", 0}}).status, 200U);
}

TEST_F(OllamaTest, BadBodiesAreRefused) {
  ToyOptions options;
  options.limits.texts_max = 2;
  ToyServer server(options);
  expect_refused(server.ask("POST", "/api/embed", "{"), 400, "not JSON");
  expect_refused(server.ask("POST", "/api/embed", "1"), 400, "must be a JSON object");
  expect_refused(server.post_json("/api/embed", {{"input", "a"}}), 400, "'model' is missing");
  expect_refused(server.post_json("/api/embed", {{"model", ""}, {"input", "a"}}), 400, "'model' is missing");
  for (const auto& [input, words] :
       {std::pair{json(1), "'input' must be a string or an array of strings, not a number"},
        std::pair{json::object(), "not an object"},
        std::pair{json({"a", 1}), "'input' has a number at [1]; expected a string"},
        std::pair{json({{"a"}}), "'input' has an array at [0]; expected a string"}})
    expect_refused(server.post_json("/api/embed", {{"model", "toy"}, {"input", input}}), 400, words);
  expect_refused(server.post_json("/api/embed", {{"model", "toy"}, {"input", {"a", "a", "a"}}}), 400, "at most 2");
  // Counted and not read.
  expect_refused(server.post_json("/api/embed", {{"model", "toy"}, {"input", {"a", "a", "a", 1}}}), 400,
                 "4 texts in one request; at most 2");
  expect_refused(server.post_json("/api/embeddings", {{"model", "toy"}, {"prompt", {"a"}}}), 400, "'prompt'");
  expect_refused(server.post_json("/api/show", json::object()), 400, "'model' is missing");
  expect_refused(server.post_json("/api/show", {{"model", "other"}}), 404, "'other'");
  expect_refused(server.ask("POST", "/api/generate", "{}"), 404, "does not generate text. There are /api/embed,");
}

TEST_F(OllamaTest, TellsOfItsModelsAndVersion) {
  ToyServer server;
  const json tags = json_of(server.ask("GET", "/api/tags"));
  ASSERT_EQ(tags["models"].size(), 1U);
  EXPECT_EQ(tags["models"][0]["name"], "toy:latest");
  EXPECT_EQ(tags["models"][0]["model"], "toy:latest");
  EXPECT_EQ(tags["models"][0]["details"]["quantization_level"], "f32");
  EXPECT_EQ(tags["models"][0]["modified_at"], "1970-01-01T00:00:00Z");
  // `ollama list` shows twelve digits of it.
  EXPECT_THAT(tags["models"][0]["digest"].get<std::string>(), ::testing::MatchesRegex("[0-9a-f]+"));
  EXPECT_EQ(tags["models"][0]["digest"].get<std::string>().size(), 64U);
  EXPECT_GT(tags["models"][0]["size"], 1000);
  EXPECT_EQ(json_of(server.ask("GET", "/api/version")), json({{"version", LATEBIND_VERSION}}));
  for (const char* key : {"model", "name"}) {
    const json shown = json_of(server.post_json("/api/show", {{key, "toy:latest"}}));
    EXPECT_EQ(shown["capabilities"], json({"embedding"}));
    EXPECT_EQ(shown["model_info"]["latebind.embedding_length"], 32);
    EXPECT_EQ(shown["model_info"]["latebind.context_length"], 20);
  }
}

TEST_F(OllamaTest, EveryModelIsLoadedAndStaysSo) {
  ToyServer server;
  const json running = json_of(server.ask("GET", "/api/ps"));
  ASSERT_EQ(running["models"].size(), 1U);
  const json& model = running["models"][0];
  const json tags = json_of(server.ask("GET", "/api/tags"));
  for (const char* same : {"name", "model", "size", "digest", "details"})
    EXPECT_EQ(model[same], tags["models"][0][same]);
  EXPECT_EQ(model["size_vram"], 0);
  EXPECT_EQ(model["context_length"], 20);
  EXPECT_EQ(model["expires_at"], "2069-12-07T00:00:00Z");
}

TEST_F(OllamaTest, AServedModelNeedsNoPull) {
  ToyServer server({.aliases = {"an-org/toy"}});
  for (const char* key : {"model", "name"}) {
    const HttpResponse lines = server.post_json("/api/pull", {{key, "an-org/toy:latest"}});
    EXPECT_EQ(lines.status, 200U);
    EXPECT_EQ(lines.content_type, "application/x-ndjson");
    EXPECT_THAT(lines.body, ::testing::EndsWith("\n{\"status\":\"success\"}\n"));
    const HttpResponse one = server.post_json("/api/pull", {{key, "toy"}, {"stream", false}, {"insecure", true}});
    EXPECT_EQ(one.content_type, "application/json");
    EXPECT_EQ(json_of(one), json({{"status", "success"}}));
  }
  expect_refused(server.post_json("/api/pull", {{"model", "other"}}), 404,
                 "no model is served as 'other'; available: toy");
  expect_refused(server.post_json("/api/pull", json::object()), 400, "'model' is missing");
  expect_refused(server.post_json("/api/pull", {{"model", "toy"}, {"stream", 1}}), 400, "'stream'");
}

}  // namespace
}  // namespace latebind::server
