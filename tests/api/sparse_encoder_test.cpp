// Sparse encoders through the C interface, on the recorded models of the tests and the backend that is always there.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "latebind/latebind.h"
#include "latebind/latebind.hpp"
#include "tests/api/last_error.h"

namespace {

using latebind::test::last_message;
using nlohmann::json;
using ::testing::HasSubstr;

const std::string kSparseFolder = std::string(LATEBIND_SOURCE_DIR) + "/tests/data/sparse_encoders/";

class SparseEncoderInterfaceTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::ifstream file(kSparseFolder + "expected.json");
    expected = json::parse(file);
    for (const json& text : expected["texts"])
      texts.push_back(text.get<std::string>());
    for (const std::string& text : texts)
      views.emplace_back(text);
    auto made = latebind::Runtime::create({{"device", "native"}, {"precision", "f32"}});
    ASSERT_TRUE(made.ok()) << made.status().message();
    runtime = std::make_unique<latebind::Runtime>(*std::move(made));
    auto opened = runtime->open_sparse_encoder(kSparseFolder + "bert");
    ASSERT_TRUE(opened.ok()) << opened.status().message();
    encoder = std::make_unique<latebind::SparseEncoder>(*std::move(opened));
  }

  void expect_same(const latebind::SparseVectors& vectors, const json& wanted) const {
    ASSERT_EQ(vectors.size(), wanted.size());
    for (std::size_t i = 0; i < vectors.size(); ++i) {
      const latebind::SparseVector vector = vectors[i];
      EXPECT_EQ(json(std::vector<std::uint32_t>(vector.indices.begin(), vector.indices.end())), wanted[i]["indices"]);
      ASSERT_EQ(vector.values.size(), wanted[i]["values"].size());
      for (std::size_t at = 0; at < vector.values.size(); ++at)
        EXPECT_NEAR(vector.values[at], wanted[i]["values"][at].get<float>(), 1e-5F) << i << " " << at;
    }
  }

  json expected;
  std::vector<std::string> texts;
  std::vector<std::string_view> views;
  std::unique_ptr<latebind::Runtime> runtime;
  std::unique_ptr<latebind::SparseEncoder> encoder;
};

TEST_F(SparseEncoderInterfaceTest, GivesTheReferencesWeights) {
  auto stats = LB_INIT(lb_embed_stats);
  const auto vectors = encoder->encode(views, {}, {}, &stats);
  ASSERT_TRUE(vectors.ok()) << vectors.status().message();
  expect_same(*vectors, expected["vectors"]["bert"]);
  EXPECT_EQ(stats.texts, views.size());
  const auto queries = encoder->encode(views, {.prompt_name = "query"}, {.timeout = std::chrono::minutes(1)});
  ASSERT_TRUE(queries.ok()) << queries.status().message();
  expect_same(*queries, expected["query"]);
  EXPECT_EQ(encoder->vocabulary_size(), 45U);
  EXPECT_EQ(encoder->max_tokens(), 20U);
  EXPECT_EQ(encoder->attestation()->backend, "native");
  const auto tokenizer = encoder->tokenizer();
  ASSERT_TRUE(tokenizer.ok());
  const auto none = encoder->encode({});
  ASSERT_TRUE(none.ok());
  EXPECT_EQ(none->size(), 0U);
}

TEST_F(SparseEncoderInterfaceTest, WrongCallsAreRefusedByWhatIsWrong) {
  EXPECT_THAT(encoder->encode(views, {.dimensions = 3}).status().message(), HasSubstr("sparse vectors have neither"));
  EXPECT_EQ(encoder->encode(views, {.normalize = true}).status().code(), LB_INVALID_ARGUMENT);
  const std::string_view bad = "\xff";
  EXPECT_EQ(encoder->encode({&bad, 1}).status().code(), LB_INVALID_ARGUMENT);
  lb_sparse_list* list = nullptr;
  lb_sparse_rows rows{};
  EXPECT_EQ(lb_sparse_encoder_encode(nullptr, nullptr, 0, nullptr, nullptr, &list, nullptr), LB_INVALID_ARGUMENT);
  EXPECT_EQ(lb_sparse_list_rows(nullptr, &rows), LB_INVALID_ARGUMENT);
  EXPECT_EQ(lb_sparse_encoder_vocabulary_size(nullptr), 0U);
  EXPECT_EQ(lb_sparse_encoder_max_tokens(nullptr), 0U);
  lb_sparse_list_destroy(nullptr);
  lb_sparse_encoder_destroy(nullptr);
}

TEST_F(SparseEncoderInterfaceTest, ModelsOfOtherKindsAreRefused) {
  const auto embedder = runtime->open_embedder(kSparseFolder + "bert");
  EXPECT_EQ(embedder.status().code(), LB_INVALID_ARGUMENT);
  EXPECT_THAT(embedder.status().message(), HasSubstr("is a sparse encoder"));
  const auto sparse = runtime->open_sparse_encoder(std::string(LATEBIND_SOURCE_DIR) + "/tests/data/tiny-bert/f32");
  EXPECT_THAT(sparse.status().message(), HasSubstr("gives vectors for texts"));
}

}  // namespace
