#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
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

class OpenAiTest : public testing::ProtocolTest {
 protected:
  static void expect_refused(const HttpResponse& response, unsigned status, std::string_view type, const json& code,
                             const json& param, std::string_view reason) {
    EXPECT_EQ(response.status, status) << response.body;
    const json body = json_of(response);
    const json& error = body["error"];
    EXPECT_EQ(error["type"], type);
    EXPECT_EQ(error["code"], code);
    EXPECT_EQ(error["param"], param);
    EXPECT_THAT(error["message"].get<std::string>(), HasSubstr(reason));
  }
};

std::vector<float> floats_of(const std::string& base64) {
  constexpr std::string_view kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string bytes;
  std::uint32_t bits = 0;
  unsigned count = 0;
  for (const char digit : base64) {
    if (digit == '=') break;
    bits = bits << 6U | static_cast<std::uint32_t>(kDigits.find(digit));
    count += 6;
    if (count < 8) continue;
    count -= 8;
    bytes += static_cast<char>(bits >> count & 0xFFU);
  }
  std::vector<float> numbers(bytes.size() / sizeof(float));
  std::memcpy(numbers.data(), bytes.data(), numbers.size() * sizeof(float));
  return numbers;
}

TEST_F(OpenAiTest, EmbedsTextsAndTokenIds) {
  ToyServer server;
  for (const char* path : {"/v1/embeddings", "/v3/embeddings"}) {
    const json many = json_of(server.post_json(path, {{"model", "toy"}, {"input", {"the cat", "a dog and a cat"}}}));
    EXPECT_EQ(many["object"], "list");
    EXPECT_EQ(many["model"], "toy");
    EXPECT_EQ(many["usage"], json({{"prompt_tokens", 11}, {"total_tokens", 11}}));
    ASSERT_EQ(many["data"].size(), 2U);
    EXPECT_EQ(many["data"][1]["index"], 1);
    EXPECT_EQ(many["data"][1]["object"], "embedding");
    expect_near(many["data"][0]["embedding"], ToyServer::vector_of({2, 9, 11, 3}));
    expect_near(many["data"][1]["embedding"], ToyServer::vector_of(server.ids_of("a dog and a cat")));
    for (const json& input : {json("the cat"), json({2, 9, 11, 3}), json::array({json({2, 9, 11, 3})})}) {
      const json one = json_of(server.post_json(path, {{"model", "toy"}, {"input", input}}));
      ASSERT_EQ(one["data"].size(), 1U);
      EXPECT_EQ(one["data"][0], many["data"][0]);
    }
  }
}

TEST_F(OpenAiTest, Base64HasTheSameBits) {
  ToyServer server;
  json body{{"model", "toy"}, {"input", "a dog"}};
  const json plain = json_of(server.post_json("/v1/embeddings", body));
  body["encoding_format"] = "float";
  EXPECT_EQ(json_of(server.post_json("/v1/embeddings", body)), plain);
  body["encoding_format"] = "base64";
  const json coded = json_of(server.post_json("/v1/embeddings", body));
  EXPECT_EQ(floats_of(coded["data"][0]["embedding"].get<std::string>()),
            plain["data"][0]["embedding"].get<std::vector<float>>());
}

TEST_F(OpenAiTest, VectorsHaveLengthOneWhateverTheModelGives) {
  ToyServer server(raw_model());
  const json found = json_of(server.post_json("/v1/embeddings", {{"model", "toy"}, {"input", "a dog"}}));
  expect_near(found["data"][0]["embedding"], ToyServer::vector_of({2, 10, 12, 3}));
}

TEST_F(OpenAiTest, DimensionsNeedAModelThatWasTrainedForThem) {
  ToyServer server;
  const json body{{"model", "toy"}, {"input", "a"}, {"dimensions", 8}};
  expect_refused(server.post_json("/v1/embeddings", body), 400, "invalid_request_error", nullptr, "dimensions",
                 "was not trained");
  ToyOptions options;
  options.limits.allow_dimensions = true;
  ToyServer cutting(options);
  auto expected = ToyServer::vector_of({2, 10, 3});
  expected.resize(8);
  embedding::normalize(expected);
  expect_near(json_of(cutting.post_json("/v1/embeddings", body))["data"][0]["embedding"], expected);
}

TEST_F(OpenAiTest, ListsAndShowsModels) {
  ToyServer server;
  const json list = json_of(server.ask("GET", "/v1/models"));
  EXPECT_EQ(list["object"], "list");
  ASSERT_EQ(list["data"].size(), 1U);
  EXPECT_EQ(list["data"][0]["id"], "toy");
  EXPECT_EQ(list["data"][0]["object"], "model");
  EXPECT_EQ(list["data"][0]["owned_by"], "latebind");
  EXPECT_EQ(json_of(server.ask("GET", "/v3/models/toy")), list["data"][0]);
  expect_refused(server.ask("GET", "/v1/models/other"), 404, "invalid_request_error", "model_not_found", "model",
                 "no model is served as 'other'");
}

TEST_F(OpenAiTest, BadBodiesAreRefused) {
  ToyOptions options;
  options.limits.texts_max = 2;
  options.limits.auto_truncate = false;
  ToyServer server(options);
  const auto ask = [&](const json& input) {
    return server.post_json("/v1/embeddings", {{"model", "toy"}, {"input", input}});
  };
  constexpr std::string_view kType = "invalid_request_error";
  expect_refused(server.ask("POST", "/v1/embeddings", "{"), 400, kType, nullptr, nullptr, "not JSON");
  expect_refused(server.ask("POST", "/v1/embeddings", "[]"), 400, kType, nullptr, nullptr, "must be a JSON object");
  expect_refused(server.post_json("/v1/embeddings", {{"input", "a"}}), 400, kType, nullptr, "model", "missing");
  expect_refused(server.post_json("/v1/embeddings", {{"model", "toy"}}), 400, kType, nullptr, "input", "missing");
  expect_refused(server.post_json("/v1/embeddings", {{"model", "other"}, {"input", "a"}}), 404, kType,
                 "model_not_found", "model", "no model is served");
  for (const json& input : {json(1), json::array(), json::object(), json({"a", 1}), json({{1}, 1}), json({-1}),
                            json({1.5}), json({{1}, "a"})})
    expect_refused(ask(input), 400, kType, nullptr, "input", "'input' ");
  for (const auto& [input, words] :
       {std::pair{json(1),
                  "must be a string, token ids, or an array of strings or of arrays of token ids, not a number"},
        std::pair{json::array(), "must not be an empty array"},
        std::pair{json({"a", nullptr}), "has null at [1]; expected a string"},
        std::pair{json({nullptr, "a"}), "has null at [0]; expected a string or a token id"},
        std::pair{json({1, "a"}), "has a string at [1]; expected a token id"},
        std::pair{json({1, -1}), "has a number at [1] that is not a token id: token ids are whole numbers from 0"},
        std::pair{json({{1}, "a"}), "has a string at [1]; expected an array of token ids"},
        std::pair{json({{1}, {2, true}}), "has true or false at [1][1]; expected a token id"},
        std::pair{json::array({json::array({1}), json::array()}), "has an empty array of token ids at [1]"}})
    expect_refused(ask(input), 400, kType, nullptr, "input", words);
  expect_refused(ask({"a", "a", "a"}), 400, kType, nullptr, "input", "3 texts in one request; at most 2");
  // Counted and not read: what the fourth is does not matter any more.
  expect_refused(ask({"a", "a", "a", 1}), 400, kType, nullptr, "input", "4 texts in one request; at most 2");
  expect_refused(ask({{2}, {2}, "a"}), 400, kType, nullptr, "input", "3 texts in one request; at most 2");
  expect_refused(server.post_json("/v1/embeddings", {{"model", "other"}, {"input", {"a", "a", "a"}}}), 404, kType,
                 "model_not_found", "model", "no model is served");
  expect_refused(ask({2, 45, 3}), 400, kType, nullptr, nullptr, "no token has the id 45");
  std::string words;
  for (int i = 0; i < 30; ++i)
    words += "cat ";
  expect_refused(ask(words), 413, kType, "context_length_exceeded", nullptr,
                 "input[0]: the text has 32 tokens; at most 20 are taken");
  expect_refused(server.post_json("/v1/embeddings", {{"model", "toy"}, {"input", "a"}, {"encoding_format", "int8"}}),
                 400, kType, nullptr, "encoding_format", "float or base64");
  expect_refused(server.post_json("/v1/embeddings", {{"model", "toy"}, {"input", "a"}, {"dimensions", 0}}), 400, kType,
                 nullptr, "dimensions", "whole number");
}

TEST_F(OpenAiTest, TheUsageSaysHowManyTextsWereCut) {
  ToyServer server;
  std::string words;
  for (int i = 0; i < 30; ++i)
    words += "cat ";
  const auto usage = [&](const json& input) {
    return json_of(server.post_json("/v1/embeddings", {{"model", "toy"}, {"input", input}}))["usage"];
  };
  EXPECT_EQ(usage({words, "the cat", words}),
            json({{"prompt_tokens", 44}, {"total_tokens", 44}, {"truncated_texts", 2}}));
  EXPECT_EQ(usage({"the cat"}), json({{"prompt_tokens", 4}, {"total_tokens", 4}}));
}

TEST_F(OpenAiTest, OverloadAsksForARetry) {
  ToyOptions options;
  options.limits.queue_tokens_max = 0;
  ToyServer server(options);
  const auto response = server.post_json("/v1/embeddings", {{"model", "toy"}, {"input", "a"}});
  expect_refused(response, 429, "rate_limit_error", "rate_limit_exceeded", nullptr, "wait");
  EXPECT_EQ(header_of(response, "Retry-After"), "1");
}

TEST_F(OpenAiTest, PathsThatDoNotExistAreRefusedInItsWords) {
  ToyServer server;
  EXPECT_EQ(server.ask("POST", "/v1/chat/completions", "{}").status, 404U);
  EXPECT_TRUE(json_of(server.ask("POST", "/v1/chat/completions", "{}"))["error"].is_object());
  EXPECT_EQ(server.ask("GET", "/v1/embeddings").status, 405U);
}

}  // namespace
}  // namespace latebind::server
