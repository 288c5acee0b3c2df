// Latebind's request for any outputs of a model: POST /latebind/encode.
#include <string>
#include <vector>

#include "tests/server/protocols/fixture.h"

namespace latebind::server {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;
using testing::json_of;
using testing::ToyOptions;
using testing::ToyServer;

class EncodeTest : public testing::ProtocolTest {
 protected:
  static void expect_refused(const HttpResponse& response, unsigned status, const std::string& reason) {
    EXPECT_EQ(response.status, status) << response.body;
    EXPECT_THAT(json_of(response)["error"].get<std::string>(), HasSubstr(reason));
  }
};

TEST_F(EncodeTest, GivesAllOutputsOfOnePass) {
  int runs = 0;
  ToyOptions options;
  options.token_vectors = true;
  options.on_run = [&](const core::TensorView&) {
    ++runs;
    return core::Status();
  };
  ToyServer server(options);
  const std::vector<std::string> texts{"the cats", "a dog and the cats"};
  const json answer =
      json_of(server.post_json("/latebind/encode", {{"inputs", texts}, {"outputs", {"token_vectors", "dense"}}}));
  EXPECT_EQ(runs, 1);
  EXPECT_EQ(answer["model"], "toy");
  ASSERT_EQ(answer["results"].size(), 2U);
  std::size_t tokens = 0;
  for (std::size_t i = 0; i < texts.size(); ++i) {
    const json& result = answer["results"][i];
    const auto ids = server.ids_of(texts[i]);
    tokens += ids.size();
    EXPECT_EQ(result.size(), 3U);
    EXPECT_EQ(result["index"], i);
    testing::expect_near(result["dense"], ToyServer::vector_of(ids));
    ASSERT_EQ(result["token_vectors"].size(), ids.size());
    for (std::size_t t = 0; t < ids.size(); ++t)
      EXPECT_NEAR(result["token_vectors"][t][3].get<float>(), test::toy_state(ids[t], t, 3), 1e-6F);
  }
  EXPECT_EQ(answer["usage"]["total_tokens"], tokens);
  EXPECT_EQ(server.record().texts, 2U);
  // The status names what may be asked for.
  EXPECT_EQ(json_of(server.ask("GET", "/latebind/status"))["models"][0]["outputs"], json({"dense", "token_vectors"}));
}

TEST_F(EncodeTest, OneTextAndTokenIdsAreInputsToo) {
  ToyServer server;
  const auto ids = server.ids_of("the cats");
  const json answer = json_of(server.post_json("/latebind/encode", {{"inputs", {ids}}, {"outputs", {"dense"}}}));
  testing::expect_near(answer["results"][0]["dense"], ToyServer::vector_of(ids));
  EXPECT_EQ(json_of(server.post_json("/latebind/encode", {{"inputs", "the cats"}, {"outputs", {"dense"}}}))["results"],
            answer["results"]);
}

TEST_F(EncodeTest, RefusesWhatTheModelDoesNotGive) {
  ToyServer server;
  const auto ask = [&](const json& body) { return server.post_json("/latebind/encode", body); };
  expect_refused(ask({{"inputs", "a"}, {"outputs", {"colour"}}}), 400,
                 "toy does not make colour; its outputs are: dense");
  expect_refused(ask({{"inputs", "a"}, {"outputs", {"dense", "token_vectors"}}}), 400, "--token-vectors");
  expect_refused(ask({{"inputs", "a"}}), 400, "'outputs' is missing");
  expect_refused(ask({{"inputs", "a"}, {"outputs", json::array()}}), 400, "'outputs' must not be empty");
  expect_refused(ask({{"inputs", "a"}, {"outputs", {"dense", "dense"}}}), 400, "'outputs' has 'dense' twice");
  expect_refused(ask({{"inputs", json::array()}, {"outputs", {"dense"}}}), 400, "'inputs' must not be empty");
  expect_refused(ask({{"inputs", "a"}, {"outputs", {"dense"}}, {"model", "other"}}), 404, "no model is served as");
}

}  // namespace
}  // namespace latebind::server
