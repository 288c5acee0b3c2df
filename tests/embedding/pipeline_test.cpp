#include "embedding/pipeline.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <string>
#include <vector>

#include "tests/embedding/toy_encoder.h"
#include "tests/embedding/toy_texts.h"

namespace latebind::embedding {
namespace {

using core::Status;
using core::StatusCode;
using test::mixed_texts;
using test::views;
using ::testing::HasSubstr;

std::unique_ptr<Pipeline> pipeline_of(unsigned requests) {
  auto forward = Forward::bind(test::toy_model({.requests = requests}), test::toy_output({.normalize = true}));
  EXPECT_TRUE(forward.ok()) << forward.status().to_string();
  return std::make_unique<Pipeline>(test::toy_tokenizer(), *std::move(forward), TokenLimits{32, 0}, 64);
}

TEST(PipelineTest, ManyTextsAreTokenizedOnSeveralThreadsInOrder) {
  const auto pipeline = pipeline_of(4);
  const auto texts = mixed_texts(5000);
  TokenTable table;
  ASSERT_TRUE(pipeline->tokenize(views(texts), pipeline->limits(), 0, {}, table).ok());
  TokenTable one_by_one;
  for (const auto& text : texts)
    ASSERT_TRUE(pipeline->tokenize(text, pipeline->limits(), 0, one_by_one).ok());
  ASSERT_EQ(table.size(), one_by_one.size());
  for (std::size_t i = 0; i < texts.size(); ++i) {
    ASSERT_TRUE(std::ranges::equal(table.ids(i), one_by_one.ids(i))) << i;
  }
}

TEST(PipelineTest, TheFirstBadTextIsNamedByItsPosition) {
  for (const std::size_t count : {3U, 5000U}) {  // on one thread, on several
    const auto pipeline = pipeline_of(4);
    auto texts = mixed_texts(count);
    texts[1] = "good \xc3";
    texts[count - 1] = "\xff";
    TokenTable table;
    const Status status = pipeline->tokenize(views(texts), pipeline->limits(), 100, {}, table);
    EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
    EXPECT_THAT(status.to_string(), HasSubstr("texts[101]"));
  }
}

TEST(PipelineTest, TokenizingEndsWithTheCall) {
  for (const std::size_t count : {3U, 5000U}) {
    const auto pipeline = pipeline_of(4);
    const auto texts = mixed_texts(count);
    TokenTable table;
    const Status late =
        pipeline->tokenize(views(texts), pipeline->limits(), 0, {.deadline = std::chrono::steady_clock::now()}, table);
    EXPECT_EQ(late.code(), StatusCode::kDeadlineExceeded);
    const auto cancellation = core::Cancellation::create();
    cancellation.request();
    const Status cancelled =
        pipeline->tokenize(views(texts), pipeline->limits(), 0, {.cancellation = cancellation}, table);
    EXPECT_EQ(cancelled.code(), StatusCode::kCancelled);
  }
}

TEST(PipelineTest, LimitsOfACallAreWithinThoseOfTheEmbedder) {
  const auto pipeline = pipeline_of(1);
  EXPECT_EQ(pipeline->limits_of({})->max_tokens, 32U);
  EXPECT_FALSE(pipeline->limits_of({})->refuse_longer);
  EXPECT_EQ(pipeline->limits_of({.max_tokens = 32})->max_tokens, 32U);
  EXPECT_EQ(pipeline->limits_of({.max_tokens = 5})->max_tokens, 5U);
  EXPECT_TRUE(pipeline->limits_of({.refuse_longer = true})->refuse_longer);
  const auto more = pipeline->limits_of({.max_tokens = 33});
  EXPECT_EQ(more.status().code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(more.status().to_string(),
              HasSubstr("33 tokens of a text were asked for; the embedder was opened for 32"));
}

}  // namespace
}  // namespace latebind::embedding
