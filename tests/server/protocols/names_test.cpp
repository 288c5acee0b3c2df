// By every name of a model, in every protocol.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/server/protocols/fixture.h"

namespace latebind::server {
namespace {

using nlohmann::json;
using testing::json_of;
using testing::ToyServer;

class NamesTest : public testing::ProtocolTest {};

TEST_F(NamesTest, EveryProtocolTakesEveryName) {
  ToyServer server({.aliases = {"an-org/toy", "./models/toy", "text-embedding-3-small"}});
  for (const std::string& name : {std::string("toy"), std::string("an-org/toy"), std::string("./models/toy"),
                                  std::string("text-embedding-3-small")}) {
    for (const std::string& asked : {name, name + ":latest"}) {
      EXPECT_EQ(server.post_json("/v1/embeddings", {{"model", asked}, {"input", "a"}}).status, 200U) << asked;
      EXPECT_EQ(server.post_json("/v1/embed", {{"model", asked}, {"texts", {"a"}}}).status, 200U) << asked;
      EXPECT_EQ(server.post_json("/score", {{"model", asked}, {"text_1", "a"}, {"text_2", "a"}}).status, 200U) << asked;
      EXPECT_EQ(server.post_json("/api/embed", {{"model", asked}, {"input", "a"}}).status, 200U) << asked;
      EXPECT_EQ(server.post_json("/api/show", {{"model", asked}}).status, 200U) << asked;
      EXPECT_EQ(server.ask("GET", "/v1/models/" + asked).status, 200U) << asked;
      EXPECT_EQ(server.ask("GET", "/v2/models/" + asked).status, 200U) << asked;
      EXPECT_EQ(server.ask("GET", "/v2/models/" + asked + "/ready").status, 200U) << asked;
      EXPECT_EQ(server.ask("GET", "/v2/models/" + asked + "/versions/1/ready").status, 200U) << asked;
      const json infer{{"inputs", {{{"name", "text"}, {"shape", {1}}, {"datatype", "BYTES"}, {"data", {"a"}}}}}};
      const HttpResponse inferred = server.post_json("/v2/models/" + asked + "/infer", infer);
      EXPECT_EQ(inferred.status, 200U) << asked << inferred.body;
      // Known to metrics by one name.
      EXPECT_EQ(server.record().model, "toy");
    }
  }
}

TEST_F(NamesTest, ListsShowTheCanonicalName) {
  ToyServer server({.aliases = {"an-org/toy"}});
  EXPECT_EQ(json_of(server.ask("GET", "/v1/models"))["data"].size(), 1U);
  EXPECT_EQ(json_of(server.ask("GET", "/v1/models"))["data"][0]["id"], "toy");
  EXPECT_EQ(json_of(server.ask("GET", "/v1/models/an-org/toy"))["id"], "toy");
  EXPECT_EQ(json_of(server.ask("GET", "/api/tags"))["models"][0]["name"], "toy:latest");
  EXPECT_EQ(json_of(server.ask("POST", "/v2/repository/index"))[0]["name"], "toy");
  const json info = json_of(server.ask("GET", "/info"));
  EXPECT_EQ(info["model_id"], "toy");
  EXPECT_EQ(info["model_sha"], std::string(40, 'c'));
  EXPECT_EQ(json_of(server.ask("GET", "/latebind/status"))["models"][0]["aliases"], json({"an-org/toy"}));
}

TEST_F(NamesTest, AnUnknownNameIsNotFound) {
  ToyServer server;
  for (const char* name : {"other", "toy:v2", "an-org/toy", "toy:latest:latest"}) {
    EXPECT_EQ(server.post_json("/v1/embeddings", {{"model", name}, {"input", "a"}}).status, 404U) << name;
    EXPECT_EQ(server.ask("GET", std::string("/v2/models/") + name).status, 404U) << name;
  }
}

}  // namespace
}  // namespace latebind::server
