// Sparse encoders through the C interface, on the recorded models of the tests and the backend that is always there.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "latebind/latebind.h"
#include "latebind/latebind.hpp"
#include "tests/api/recorded_encoder.h"

namespace {

using ::testing::HasSubstr;

class SparseEncoderInterfaceTest : public latebind::test::RecordedEncoderTest {
 protected:
  SparseEncoderInterfaceTest() : RecordedEncoderTest("sparse_encoders") {}
  void SetUp() override {
    RecordedEncoderTest::SetUp();
    auto opened = runtime->open_sparse_encoder(models + "bert");
    ASSERT_TRUE(opened.ok()) << opened.status().message();
    encoder = std::make_unique<latebind::SparseEncoder>(*std::move(opened));
  }

  std::unique_ptr<latebind::SparseEncoder> encoder;
};

TEST_F(SparseEncoderInterfaceTest, GivesTheReferencesWeights) {
  auto stats = LB_INIT(lb_encode_stats);
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
}

TEST_F(SparseEncoderInterfaceTest, ModelsOfOtherKindsAreRefused) {
  const auto embedder = runtime->open_embedder(models + "bert");
  EXPECT_EQ(embedder.status().code(), LB_UNSUPPORTED);
  EXPECT_THAT(embedder.status().message(), HasSubstr("is a sparse encoder"));
  EXPECT_THAT(embedder.status().message(), HasSubstr("opens it as SparseEncoder"));
  const auto sparse = runtime->open_sparse_encoder(std::string(LATEBIND_SOURCE_DIR) + "/tests/data/tiny-bert/f32");
  EXPECT_THAT(sparse.status().message(), HasSubstr("gives vectors for texts"));
  EXPECT_THAT(sparse.status().message(), HasSubstr("opens it as Embedder"));
}

}  // namespace
