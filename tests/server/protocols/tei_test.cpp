#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/server/protocols/fixture.h"

namespace latebind::server {
namespace {

using nlohmann::json;
using testing::expect_near;
using ::testing::HasSubstr;
using testing::header_of;
using testing::json_of;
using testing::ToyOptions;
using testing::ToyServer;
using Ids = std::vector<std::int32_t>;

// 25 words and two special tokens; the tiny model takes 20 tokens.
const std::string kLong =
    "one two three four five, red blue green small large and then it was not there, and it is not there now.";

class TeiTest : public testing::ProtocolTest {
 protected:
  static void expect_refused(const HttpResponse& response, unsigned status, std::string_view type,
                             std::string_view reason) {
    EXPECT_EQ(response.status, status) << response.body;
    const json body = json_of(response);
    EXPECT_EQ(body["error_type"], type);
    EXPECT_THAT(body["error"].get<std::string>(), HasSubstr(reason));
    EXPECT_EQ(body.size(), 2U);
  }
};

TEST_F(TeiTest, EmbedsTextsAndTokenIds) {
  ToyServer server;
  const json many = json_of(server.post_json("/embed", {{"inputs", {"the cat", "a dog"}}}));
  ASSERT_EQ(many.size(), 2U);
  expect_near(many[0], ToyServer::vector_of({2, 9, 11, 3}));
  expect_near(many[1], ToyServer::vector_of({2, 10, 12, 3}));
  EXPECT_EQ(json_of(server.post_json("/embed", {{"inputs", "the cat"}})), json::array({many[0]}));
  EXPECT_EQ(json_of(server.post_json("/embed", {{"inputs", {2, 9, 11, 3}}})), json::array({many[0]}));
  EXPECT_EQ(json_of(server.post_json("/embed", {{"inputs", {{2, 9, 11, 3}, {2, 10, 12, 3}}}})), many);
}

TEST_F(TeiTest, TheOtherPathsOfEmbedAnswerTheSame) {
  ToyServer server;
  const json body{{"inputs", "a dog"}};
  const auto expected = server.post_json("/embed", body).body;
  EXPECT_EQ(server.post_json("/", body).body, expected);
  EXPECT_EQ(server.post_json("/invocations", body).body, expected);
}

TEST_F(TeiTest, AnEmptyTextHasAVector) {
  ToyServer server;
  const json found = json_of(server.post_json("/embed", {{"inputs", {"", "a dog"}}}));
  expect_near(found[0], ToyServer::vector_of({2, 3}));
  expect_near(json_of(server.post_json("/embed", {{"inputs", ""}}))[0], ToyServer::vector_of({2, 3}));
}

TEST_F(TeiTest, HeadersTellWhatWasDone) {
  ToyServer server;
  const auto response = server.post_json("/embed", {{"inputs", {"the cät", "a dog"}}});
  EXPECT_EQ(header_of(response, "x-compute-type"), "toy:CPU");
  EXPECT_EQ(header_of(response, "x-compute-characters"), "12");
  EXPECT_EQ(header_of(response, "x-compute-tokens"), "8");
  EXPECT_EQ(header_of(response, "x-compute-time"), header_of(response, "x-total-time"));
  for (const char* name : {"x-total-time", "x-tokenization-time", "x-queue-time", "x-inference-time"})
    EXPECT_LT(std::stoul(header_of(response, name)), 60'000U) << name;
  EXPECT_EQ(header_of(server.post_json("/embed", {{"inputs", {2, 10, 3}}}), "x-compute-characters"), "3");
  EXPECT_EQ(header_of(server.post_json("/similarity", {{"inputs", {{"source_sentence", "a"}, {"sentences", {"a"}}}}}),
                      "x-compute-tokens"),
            "6");
}

TEST_F(TeiTest, ALongerTextIsCutOnTheSideThatIsAskedFor) {
  ToyServer server;
  const Ids all = server.ids_of(kLong, 100);
  ASSERT_EQ(all.size(), 27U);
  Ids first(all.begin(), all.begin() + 19);
  first.push_back(3);
  Ids last{2};
  last.insert(last.end(), all.end() - 19, all.end());
  expect_near(json_of(server.post_json("/embed", {{"inputs", kLong}}))[0], ToyServer::vector_of(first));
  EXPECT_EQ(server.record().truncated_texts, 1U);
  for (const char* right : {"right", "Right"}) {
    const json body{{"inputs", kLong}, {"truncate", true}, {"truncation_direction", right}};
    expect_near(json_of(server.post_json("/embed", body))[0], ToyServer::vector_of(first));
  }
  for (const char* left : {"left", "Left"}) {
    const json body{{"inputs", kLong}, {"truncate", true}, {"truncation_direction", left}};
    expect_near(json_of(server.post_json("/embed", body))[0], ToyServer::vector_of(last));
    EXPECT_EQ(server.record().truncated_texts, 1U);
  }
  const json ids{{"inputs", {all}}, {"truncation_direction", "left"}};
  expect_near(json_of(server.post_json("/embed", ids))[0], ToyServer::vector_of(Ids(all.end() - 20, all.end())));
  expect_refused(server.post_json("/embed", {{"inputs", "a"}, {"truncation_direction", "up"}}), 422, "Validation",
                 "must be left or right");
}

TEST_F(TeiTest, ALongerTextIsRefusedWhereItMayNotBeCut) {
  ToyServer server;
  expect_refused(server.post_json("/embed", {{"inputs", {"a", kLong}}, {"truncate", false}}), 413, "Validation",
                 "inputs[1]: the text has 27 tokens; at most 20 are taken");
  const auto similarity = [&](const std::string& source, const json& sentences) {
    return server.post_json("/similarity", {{"inputs", {{"source_sentence", source}, {"sentences", sentences}}},
                                            {"parameters", {{"truncate", false}}}});
  };
  expect_refused(similarity("a", {"b", kLong}), 413, "Validation", "sentences[1]: the text has 27 tokens");
  expect_refused(similarity(kLong, {"b"}), 413, "Validation", "source_sentence: the text has 27 tokens");
  expect_refused(server.post_json("/embed", {{"inputs", kLong}, {"truncate", false}, {"truncation_direction", "left"}}),
                 413, "Validation", "tokens; at most 20 are taken");
  ToyOptions strict;
  strict.limits.auto_truncate = false;
  ToyServer refusing(strict);
  EXPECT_EQ(refusing.post_json("/embed", {{"inputs", kLong}}).status, 413U);
  EXPECT_EQ(refusing.post_json("/embed", {{"inputs", kLong}, {"truncate", true}}).status, 200U);
}

TEST_F(TeiTest, NormalizingCannotBeTakenOutOfAModel) {
  ToyServer server;
  expect_refused(server.post_json("/embed", {{"inputs", "a"}, {"normalize", false}}), 400, "Validation",
                 "toy always normalises its vectors");
  EXPECT_EQ(server.post_json("/embed", {{"inputs", "a"}, {"normalize", true}}).status, 200U);
}

TEST_F(TeiTest, AModelThatDoesNotNormalizeGivesBothKinds) {
  ToyServer server(raw_model());
  const auto expected = ToyServer::vector_of({2, 10, 12, 3});
  expect_near(json_of(server.post_json("/embed", {{"inputs", "a dog"}}))[0], expected);
  expect_near(json_of(server.post_json("/embed", {{"inputs", "a dog"}, {"normalize", false}}))[0], expected, 2);
}

TEST_F(TeiTest, APromptIsPutBeforeTexts) {
  ToyServer server(prompt_model());
  const json body{{"inputs", "cat"}, {"prompt_name", "query"}};
  expect_near(json_of(server.post_json("/embed", body))[0], ToyServer::vector_of({2, 9, 11, 3}));
  EXPECT_EQ(json_of(server.post_json("/tokenize", body))[0].size(), 4U);
  expect_refused(server.post_json("/embed", {{"inputs", "cat"}, {"prompt_name", "other"}}), 422, "Validation",
                 "has no prompt 'other'");
  expect_refused(server.post_json("/tokenize", {{"inputs", "cat"}, {"prompt_name", "other"}}), 422, "Validation",
                 "has no prompt 'other'");
  expect_refused(server.post_json("/embed", {{"inputs", {2, 3}}, {"prompt_name", "query"}}), 422, "Validation",
                 "not before token ids");
}

TEST_F(TeiTest, TheModelsDefaultPromptIsPutBeforeTextsUnlessARequestNamesAnotherOrNone) {
  ToyServer server(prompt_model(R"({"prompts": {"query": "the ", "raw": ""}, "default_prompt_name": "query"})"));
  const auto prompted = ToyServer::vector_of({2, 9, 11, 3});
  expect_near(json_of(server.post_json("/embed", {{"inputs", "cat"}}))[0], prompted);
  expect_near(json_of(server.post_json("/embed", {{"inputs", "cat"}, {"prompt_name", nullptr}}))[0], prompted);
  expect_near(json_of(server.post_json("/v1/embeddings", {{"model", "toy"}, {"input", "cat"}}))["data"][0]["embedding"],
              prompted);
  expect_near(json_of(server.post_json("/api/embed", {{"model", "toy"}, {"input", "cat"}}))["embeddings"][0], prompted);
  EXPECT_EQ(json_of(server.post_json("/tokenize", {{"inputs", "cat"}}))[0].size(), 4U);
  for (const char* none : {"", "raw"}) {
    const json body{{"inputs", "the cat"}, {"prompt_name", none}};
    expect_near(json_of(server.post_json("/embed", body))[0], prompted);
    EXPECT_EQ(json_of(server.post_json("/tokenize", body))[0].size(), 4U);
    const json openai{{"model", "toy"}, {"input", "the cat"}, {"prompt_name", none}};
    expect_near(json_of(server.post_json("/v1/embeddings", openai))["data"][0]["embedding"], prompted);
    expect_near(json_of(server.post_json("/api/embed", openai))["embeddings"][0], prompted);
    const json older{{"model", "toy"}, {"prompt", "the cat"}, {"prompt_name", none}};
    EXPECT_EQ(json_of(server.post_json("/api/embeddings", older)),
              json_of(server.post_json("/api/embeddings", {{"model", "toy"}, {"prompt", "cat"}})));
  }
  for (const char* path : {"/v1/embeddings", "/api/embed"}) {
    const json body{{"model", "toy"}, {"input", "cat"}, {"prompt_name", "other"}};
    const auto refused = server.post_json(path, body);
    EXPECT_EQ(refused.status, 400U) << path;
    EXPECT_NE(refused.body.find("has no prompt 'other'"), std::string::npos) << refused.body;
  }
  // What is ids already has its prompt, or wants none.
  expect_near(json_of(server.post_json("/embed", {{"inputs", {2, 9, 11, 3}}}))[0], prompted);
  expect_near(json_of(server.post_json("/embed", {{"inputs", {2, 9, 11, 3}}, {"prompt_name", ""}}))[0], prompted);
}

TEST_F(TeiTest, FewerDimensionsAreNormalizedAgain) {
  ToyServer server;
  expect_refused(server.post_json("/embed", {{"inputs", "a"}, {"dimensions", 33}}), 422, "Validation", "gives 32");
  expect_refused(server.post_json("/embed", {{"inputs", "a"}, {"dimensions", 8}}), 400, "Validation",
                 "was not trained for fewer dimensions");
  ToyOptions options;
  options.limits.allow_dimensions = true;
  ToyServer cutting(options);
  auto expected = ToyServer::vector_of({2, 10, 3});
  expected.resize(8);
  embedding::normalize(expected);
  expect_near(json_of(cutting.post_json("/embed", {{"inputs", "a"}, {"dimensions", 8}}))[0], expected);
  expect_refused(cutting.post_json("/embed", {{"inputs", "a"}, {"dimensions", 33}}), 422, "Validation", "gives 32");
  expect_refused(cutting.post_json("/embed", {{"inputs", "a"}, {"dimensions", 0}}), 422, "Validation", "'dimensions'");
}

TEST_F(TeiTest, SimilaritiesAreCosines) {
  ToyServer server(raw_model());
  const json inputs{{"source_sentence", "a dog"}, {"sentences", {"the cat", "a dog", ""}}};
  const json found = json_of(server.post_json("/similarity", {{"inputs", inputs}}));
  const auto source = ToyServer::vector_of({2, 10, 12, 3});
  std::vector<float> expected;
  for (const Ids& ids : {Ids{2, 9, 11, 3}, Ids{2, 10, 12, 3}, Ids{2, 3}}) {
    const auto other = ToyServer::vector_of(ids);
    expected.push_back(0);
    for (std::size_t i = 0; i < source.size(); ++i)
      expected.back() += source[i] * other[i];
  }
  expect_near(found, expected);
  expect_near(json::array({found[1]}), {1});
  const json strict{{"inputs", {{"source_sentence", "a"}, {"sentences", {kLong}}}},
                    {"parameters", {{"truncate", false}}}};
  EXPECT_EQ(server.post_json("/similarity", strict).status, 413U);
}

TEST_F(TeiTest, SimilarityRefusesWhatMakesNoSense) {
  ToyServer server;
  expect_refused(
      server.post_json("/similarity", {{"inputs", {{"source_sentence", "a"}, {"sentences", json::array()}}}}), 400,
      "Empty", "inputs.sentences");
  expect_refused(server.post_json("/similarity", {{"inputs", {{"sentences", {"a"}}}}}), 422, "Validation",
                 "'source_sentence' is missing");
  expect_refused(server.post_json("/similarity", {{"inputs", "a"}}), 422, "Validation", "'inputs'");
  expect_refused(server.post_json("/similarity", {{"inputs", {{"source_sentence", "a"}, {"sentences", {1}}}}}), 422,
                 "Validation", "'inputs' is wrong: 'sentences' has a number at [0]; expected a string");
}

TEST_F(TeiTest, TokenizesWithAndWithoutSpecialTokens) {
  ToyServer server;
  const auto token = [](int id, const char* text, int start, int stop) {
    return json{{"id", id}, {"text", text}, {"special", false}, {"start", start}, {"stop", stop}};
  };
  const auto added = [](int id, const char* text) {
    return json{{"id", id}, {"text", text}, {"special", true}, {"start", nullptr}, {"stop", nullptr}};
  };
  const json inner = json::array({token(9, "The", 0, 3), token(11, "cat", 4, 7), token(41, "s", 7, 8)});
  json whole = inner;
  whole.insert(whole.begin(), added(2, "[CLS]"));
  whole.push_back(added(3, "[SEP]"));
  EXPECT_EQ(json_of(server.post_json("/tokenize", {{"inputs", "The cats"}})), json::array({whole}));
  EXPECT_EQ(json_of(server.post_json("/tokenize", {{"inputs", {"The cats", ""}}, {"add_special_tokens", false}})),
            json::array({inner, json::array()}));
  // One in the text is not one of those that are added.
  const json literal = json_of(server.post_json("/tokenize", {{"inputs", "[SEP]"}}));
  EXPECT_EQ(literal[0][1], token(3, "[SEP]", 0, 5));
  // Nothing is cut.
  EXPECT_EQ(json_of(server.post_json("/tokenize", {{"inputs", kLong}}))[0].size(), 27U);
}

TEST_F(TeiTest, TokensOfOneRequestAreBounded) {
  ToyOptions options;
  options.limits.queue_tokens_max = 10;
  options.limits.texts_max = 3;
  ToyServer server(options);
  EXPECT_EQ(server.post_json("/tokenize", {{"inputs", {"the cat", "a dog and cat"}}}).status, 200U);
  expect_refused(server.post_json("/tokenize", {{"inputs", {"the cat", "a dog and a cat"}}}), 413, "Validation",
                 "more than 10 tokens");
  expect_refused(server.post_json("/tokenize", {{"inputs", {"", "", "", ""}}}), 422, "Validation", "at most 3");
  // Counted and not read.
  expect_refused(server.post_json("/tokenize", {{"inputs", {"", "", "", "", 1}}}), 422, "Validation",
                 "5 items in one request; at most 3");
  expect_refused(server.post_json("/decode", {{"ids", {{1}, {1}, {1}, "a"}}}), 422, "Validation",
                 "4 items in one request; at most 3");
  EXPECT_EQ(server.post_json("/decode", {{"ids", {2, 9, 11, 3, 9, 9, 9, 9, 9, 9}}}).status, 200U);
  expect_refused(server.post_json("/decode", {{"ids", {2, 9, 11, 3, 9, 9, 9, 9, 9, 9, 9}}}), 413, "Validation",
                 "more than 10 tokens");
  expect_refused(server.post_json("/decode", {{"ids", {{1}, {1}, {1}, {1}}}}), 422, "Validation", "at most 3");
}

TEST_F(TeiTest, DecodesIds) {
  ToyServer server;
  EXPECT_EQ(json_of(server.post_json("/decode", {{"ids", {2, 9, 11, 41, 5, 3}}})), json({"the cats."}));
  EXPECT_EQ(json_of(server.post_json("/decode", {{"ids", {{2, 9, 3}, {10, 12}}}, {"skip_special_tokens", false}})),
            json({"[CLS] the [SEP]", "a dog"}));
  expect_refused(server.post_json("/decode", {{"ids", {2, 99}}}), 422, "Validation", "no token has the id 99");
  expect_refused(server.post_json("/decode", {{"ids", {-1}}}), 422, "Validation", "whole numbers");
  expect_refused(server.post_json("/decode", {{"ids", json::array()}}), 400, "Empty", "'ids'");
  expect_refused(server.post_json("/decode", {{"ids", "a"}}), 422, "Validation", "'ids'");
  expect_refused(server.post_json("/decode", {{"ids", {{1}, 2}}}), 422, "Validation",
                 "'ids' has a number at [1]; expected an array of token ids");
  expect_refused(server.post_json("/decode", {{"ids", {{1}, {2, "a"}}}}), 422, "Validation",
                 "'ids' has a string at [1][1]; expected a token id");
}

TEST_F(TeiTest, VectorsOfTokensAreThoseOfTheModel) {
  ToyOptions options;
  options.token_vectors = true;
  options.limits.auto_truncate = false;
  ToyServer server(options);
  // Of different lengths, so that those of one batch are padded.
  const std::vector<std::string> texts{"the cats", "a dog and the cats", "", "the"};
  const json answer = json_of(server.post_json("/embed_all", {{"inputs", texts}}));
  ASSERT_EQ(answer.size(), texts.size());
  for (std::size_t i = 0; i < texts.size(); ++i) {
    const auto ids = server.ids_of(texts[i]);
    ASSERT_EQ(answer[i].size(), ids.size()) << texts[i];
    for (std::size_t t = 0; t < ids.size(); ++t) {
      ASSERT_EQ(answer[i][t].size(), testing::kDimension);
      for (std::size_t d = 0; d < testing::kDimension; ++d)
        EXPECT_NEAR(answer[i][t][d].get<float>(), test::toy_state(ids[t], t, d), 1e-6F) << texts[i] << " " << t;
    }
  }
  EXPECT_EQ(json_of(server.post_json("/embed_all", {{"inputs", {{2, 9, 3}}}}))[0].size(), 3U);
  EXPECT_EQ(server.record().texts, 1U);
  EXPECT_EQ(server.record().tokens, 3U);
  // Vectors of texts are served beside them.
  EXPECT_EQ(json_of(server.post_json("/embed", {{"inputs", "the cats"}}))[0].size(), testing::kDimension);
  expect_refused(server.post_json("/embed_all", {{"inputs", json::array()}}), 400, "Empty", "'inputs'");
  expect_refused(
      server.post_json("/embed_all", {{"inputs", std::string(500, 'a') + " a a a a a a a a a a a a a a a a a a"}}), 413,
      "Validation", "tokens; at most 20 are taken");
}

TEST_F(TeiTest, VectorsOfTokensNeedAnOptionOfTheServer) {
  ToyServer server;
  expect_refused(server.post_json("/embed_all", {{"inputs", "a"}}), 400, "Validation", "--token-vectors");
}

TEST_F(TeiTest, WhatNeedsAnotherHeadIsRefusedWithTheReason) {
  ToyServer server;
  expect_refused(server.post_json("/embed_sparse", {{"inputs", "a"}}), 400, "Validation",
                 "does not make sparse vectors");
  expect_refused(server.post_json("/predict", {{"inputs", "a"}}), 400, "Validation",
                 "does not give labels: use a cross-encoder");
  expect_refused(server.post_json("/rerank", {{"query", "a"}, {"texts", {"b"}}}), 400, "Validation",
                 "does not give scores for two texts");
}

TEST_F(TeiTest, BadBodiesAreRefused) {
  ToyOptions options;
  options.limits.texts_max = 2;
  ToyServer server(options);
  expect_refused(server.post_json("/embed", {{"inputs", json::array()}}), 400, "Empty", "'inputs' must not be empty");
  expect_refused(server.ask("POST", "/embed", "{"), 400, "Validation", "not JSON");
  expect_refused(server.ask("POST", "/embed", ""), 400, "Validation", "not JSON");
  expect_refused(server.ask("POST", "/embed", R"({"inputs":["a","b\ud800"]})"), 400, "Validation",
                 "the body is not JSON: 'inputs[1]' has a lone surrogate at byte 17: it is not Unicode text");
  expect_refused(server.post_json("/embed", {{"inputs", {"a", nullptr}}}), 422, "Validation",
                 "'inputs' has null at [1]; expected a string");
  expect_refused(server.ask("POST", "/embed", "[]"), 422, "Validation", "must be a JSON object");
  expect_refused(server.post_json("/embed", json::object()), 422, "Validation", "'inputs' is missing");
  for (const json& inputs : {json(1), json(true), json::object(), json({1.5}), json({-1}), json({"a", 1}),
                             json::array({json::array({1}), "a"}), json::array({"a", json::array({1})}),
                             json::array({nullptr}), json::array({4294967296})})
    expect_refused(server.post_json("/embed", {{"inputs", inputs}}), 422, "Validation", "'inputs' ");
  expect_refused(server.post_json("/embed", {{"inputs", {{1}, json::array()}}}), 422, "Validation", "empty array");
  expect_refused(server.post_json("/embed", {{"inputs", {"a", "a", "a"}}}), 422, "Validation", "at most 2");
  // Counted and not read: what the last one is does not matter any more.
  for (const json& inputs : {json({"a", "a", "a", 1}), json({{1}, {1}, {1}, "a"})})
    expect_refused(server.post_json("/embed", {{"inputs", inputs}}), 422, "Validation",
                   "4 texts in one request; at most 2");
  expect_refused(
      server.post_json("/similarity", {{"inputs", {{"source_sentence", "a"}, {"sentences", {"a", "a", 1}}}}}), 422,
      "Validation", "4 texts in one request; at most 2");
  expect_refused(server.post_json("/embed", {{"inputs", {2, 45, 3}}}), 422, "Validation", "no token has the id 45");
  expect_refused(server.post_json("/embed", {{"inputs", "a"}, {"truncate", "yes"}}), 422, "Validation", "'truncate'");
  expect_refused(server.post_json("/embed", {{"inputs", "a"}, {"normalize", 1}}), 422, "Validation", "'normalize'");
  expect_refused(server.post_json("/tokenize", {{"inputs", {"a", 1}}}), 422, "Validation",
                 "'inputs' has a number at [1]; expected a string");
  EXPECT_EQ(server.post_json("/embed", {{"inputs", "a"}, {"truncate", nullptr}, {"unknown", 1}}).status, 200U);
}

TEST_F(TeiTest, OverloadAndFailingDevicesHaveTheirOwnErrors) {
  ToyOptions full;
  full.limits.queue_tokens_max = 0;
  ToyServer busy(full);
  const auto response = busy.post_json("/embed", {{"inputs", "a"}});
  expect_refused(response, 429, "Overloaded", "wait");
  EXPECT_EQ(header_of(response, "Retry-After"), "1");
  EXPECT_TRUE(response.is_paced);
  ToyOptions broken;
  broken.on_run = [](const core::TensorView&) { return core::Status(core::StatusCode::kDeviceFailed, "it fell off"); };
  ToyServer failing(broken);
  const auto failed = failing.post_json("/embed", {{"inputs", "a"}});
  expect_refused(failed, 424, "Backend", "it fell off");
  EXPECT_FALSE(failed.is_paced);
}

TEST_F(TeiTest, HealthIsReadinessAndPingIsLiveness) {
  ToyServer server({.is_loaded = false});
  EXPECT_EQ(server.ask("GET", "/ping").status, 200U);
  const auto loading = server.ask("GET", "/health");
  expect_refused(loading, 503, "Unhealthy", "still loading");
  EXPECT_EQ(header_of(loading, "Retry-After"), "1");
  server.service().set_ready();
  const auto ready = server.ask("GET", "/health");
  EXPECT_EQ(ready.status, 200U);
  EXPECT_EQ(ready.body, "");
  EXPECT_EQ(ready.content_type, "");
  server.service().set_ending();
  expect_refused(server.ask("GET", "/health"), 503, "Unhealthy", "shutting down");
  EXPECT_EQ(server.ask("GET", "/ping").status, 200U);
  for (const Route& route : tei_protocol().routes())
    EXPECT_EQ(route.is_open, route.path == "/ping" || route.path == "/health") << route.path;
}

TEST_F(TeiTest, InfoHasTheFactsOfTheModel) {
  ToyOptions options;
  options.limits.texts_max = 7;
  ToyServer server(options);
  const json info = json_of(server.ask("GET", "/info"));
  EXPECT_EQ(info["model_id"], "toy");
  EXPECT_EQ(info["model_dtype"], "float32");
  EXPECT_EQ(info["model_type"], json({{"embedding", {{"pooling", "mean"}}}}));
  EXPECT_EQ(info["max_input_length"], 20);
  EXPECT_EQ(info["max_client_batch_size"], 7);
  EXPECT_EQ(info["max_batch_tokens"], 1024);
  EXPECT_EQ(info["auto_truncate"], true);
  EXPECT_EQ(info["version"], LATEBIND_VERSION);
}

}  // namespace
}  // namespace latebind::server
