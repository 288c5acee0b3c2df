#include "embedding/pipeline.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <limits>
#include <string>
#include <thread>
#include <vector>

#include "tests/embedding/toy_encoder.h"
#include "tests/support/latch.h"

namespace latebind::embedding {
namespace {

using core::Status;
using core::StatusCode;
using test::kToyDimension;
using test::ToyScript;
using ::testing::HasSubstr;

constexpr std::int64_t kLetterX = 51;  // in the toy tokenizer's vocabulary

std::unique_ptr<Pipeline> pipeline_of(ToyScript script, std::size_t batch_tokens = 64, std::size_t max_tokens = 32) {
  auto forward = Forward::bind(test::toy_model(script), {.normalize = true});
  EXPECT_TRUE(forward.ok()) << forward.status().to_string();
  return std::make_unique<Pipeline>(test::toy_tokenizer(), *std::move(forward), TokenLimits{max_tokens, 0},
                                    batch_tokens);
}

// Texts of 0 to 29 words, no two neighbours equally long.
std::vector<std::string> mixed_texts(std::size_t count) {
  std::vector<std::string> texts(count);
  for (std::size_t i = 0; i < count; ++i) {
    for (std::size_t word = 0; word < i * 7 % 30; ++word) {
      texts[i] += texts[i].empty() ? "" : " ";
      texts[i] += word % 3 == i % 3 ? "word" : std::string(1, static_cast<char>('a' + (i + word) % 26));
    }
  }
  return texts;
}

std::vector<std::string_view> views(const std::vector<std::string>& texts) {
  return {texts.begin(), texts.end()};
}

void expect_vectors_of(const std::vector<std::string>& texts, std::span<const float> vectors,
                       std::size_t max_tokens = 32) {
  const auto tokenizer = test::toy_tokenizer();
  ASSERT_EQ(vectors.size(), texts.size() * kToyDimension);
  for (std::size_t i = 0; i < texts.size(); ++i) {
    std::vector<std::int32_t> ids;
    ASSERT_TRUE(tokenizer.encode(texts[i], max_tokens, ids).ok());
    const auto expected = test::toy_vector(ids);
    for (std::size_t d = 0; d < kToyDimension; ++d) {
      ASSERT_NEAR(vectors[i * kToyDimension + d], expected[d], 1e-5) << "text " << i;
    }
  }
}

// Tokenises and computes all texts as one job.
Status embed_once(Pipeline& pipeline, const std::vector<std::string>& texts, std::vector<float>& out, EmbedStats& stats,
                  bool caller_helps = true) {
  out.assign(texts.size() * kToyDimension, -7.0F);
  Pipeline::Job job(pipeline);
  LB_RETURN_IF_ERROR(pipeline.tokenize(views(texts), 0, job.tokens));
  job.start(out.data(), 0, false, caller_helps);
  if (caller_helps) job.help();
  return job.finish(stats);
}

TEST(PipelineTest, VectorsComeInTheOrderOfTheTexts) {
  for (const unsigned requests : {1U, 2U, 5U}) {
    for (const bool caller_helps : {true, false}) {
      const auto pipeline = pipeline_of({.requests = requests});
      const auto texts = mixed_texts(301);
      std::vector<float> out;
      EmbedStats stats;
      const Status status = embed_once(*pipeline, texts, out, stats, caller_helps);
      ASSERT_TRUE(status.ok()) << status.to_string();
      expect_vectors_of(texts, out);
      EXPECT_EQ(stats.texts, 301U);
      EXPECT_EQ(stats.truncated_texts, 0U);
      EXPECT_GE(stats.padded_tokens, stats.tokens);
    }
  }
}

TEST(PipelineTest, AsManyBatchesRunSideBySideAsThereAreRequests) {
  // Every run waits for another one: the test ends only if two are in the model at one time.
  test::Latch both(2);
  ToyScript script{.requests = 2};
  script.on_run = [&](const core::TensorView&) {
    both.arrive_and_wait();
    return Status();
  };
  const auto pipeline = pipeline_of(std::move(script), /*batch_tokens=*/4);
  std::vector<float> out;
  EmbedStats stats;
  ASSERT_TRUE(embed_once(*pipeline, {"a", "b"}, out, stats).ok());
  EXPECT_EQ(stats.padded_tokens, 6U);
}

TEST(PipelineTest, ManyTextsAreTokenizedOnSeveralThreadsInOrder) {
  const auto pipeline = pipeline_of({.requests = 4});
  const auto texts = mixed_texts(5000);
  TokenTable table;
  ASSERT_TRUE(pipeline->tokenize(views(texts), 0, table).ok());
  TokenTable one_by_one;
  for (const auto& text : texts)
    ASSERT_TRUE(pipeline->tokenize(text, 0, one_by_one).ok());
  ASSERT_EQ(table.size(), one_by_one.size());
  for (std::size_t i = 0; i < texts.size(); ++i) {
    ASSERT_TRUE(std::ranges::equal(table.ids(i), one_by_one.ids(i))) << i;
  }
}

TEST(PipelineTest, TheFirstBadTextIsNamedByItsPosition) {
  for (const std::size_t count : {3U, 5000U}) {  // on one thread, on several
    const auto pipeline = pipeline_of({.requests = 4});
    auto texts = mixed_texts(count);
    texts[1] = "good \xc3";
    texts[count - 1] = "\xff";
    TokenTable table;
    const Status status = pipeline->tokenize(views(texts), 100, table);
    EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
    EXPECT_THAT(status.to_string(), HasSubstr("texts[101]"));
  }
}

TEST(PipelineTest, AVectorThatIsNotFiniteIsRefusedByTheTextsPosition) {
  for (const bool pooled : {false, true}) {
    std::atomic<int> runs = 0;
    ToyScript script{.pooled = pooled};
    script.on_run = [&](const core::TensorView&) {
      ++runs;
      return Status();
    };
    script.spoil = [](std::int64_t first_word, float value) {
      return first_word == kLetterX ? std::numeric_limits<float>::quiet_NaN() : value;
    };
    auto forward = Forward::bind(test::toy_model(script), {.pooled = pooled, .normalize = !pooled});
    ASSERT_TRUE(forward.ok()) << forward.status().to_string();
    Pipeline pipeline(test::toy_tokenizer(), *std::move(forward), TokenLimits{32, 0}, 64);
    std::vector<float> out;
    EmbedStats stats;
    ASSERT_TRUE(embed_once(pipeline, {"a", "b c", "d e f"}, out, stats).ok());
    runs = 0;
    const Status batch = embed_once(pipeline, {"a", "x c", "d e f"}, out, stats);
    EXPECT_THAT(batch.to_string(),
                HasSubstr("texts[1]: toy:CPU gave a vector with numbers that are not finite, in f32"));
    // It is not asked again, and nobody is told to try again.
    EXPECT_EQ(batch.code(), StatusCode::kInternal);
    EXPECT_FALSE(core::is_retryable(batch.code()));
    EXPECT_EQ(runs, 1);
    const Status alone = embed_once(pipeline, {"x"}, out, stats);
    EXPECT_THAT(alone.to_string(), HasSubstr("texts[0]: toy:CPU"));
  }
}

TEST(PipelineTest, AVectorThatHasLostItsLengthIsRefused) {
  ToyScript script;
  // Its square is beyond the range of a float.
  script.spoil = [](std::int64_t first_word, float value) { return first_word == kLetterX ? value * 1e30F : value; };
  auto forward = Forward::bind(test::toy_model(script), {.normalize = true});
  ASSERT_TRUE(forward.ok()) << forward.status().to_string();
  Pipeline pipeline(test::toy_tokenizer(), *std::move(forward), TokenLimits{32, 0}, 64);
  std::vector<float> out;
  EmbedStats stats;
  ASSERT_TRUE(embed_once(pipeline, {"a", "b c"}, out, stats).ok());
  EXPECT_THAT(embed_once(pipeline, {"a", "x c"}, out, stats).to_string(),
              HasSubstr("texts[1]: toy:CPU gave a vector of zeros, where its length is to be 1, in f32"));
}

TEST(PipelineTest, AFailedRunStopsTheJobAndSaysWhere) {
  std::atomic<int> runs = 0;
  std::atomic<bool> gone = true;
  ToyScript script;
  script.on_run = [&](const core::TensorView&) {
    return ++runs >= 3 && gone ? Status(StatusCode::kDeviceFailed, "the device is gone") : Status();
  };
  const auto pipeline = pipeline_of(std::move(script));
  std::vector<float> out;
  EmbedStats stats;
  const Status status = embed_once(*pipeline, mixed_texts(300), out, stats);
  EXPECT_EQ(status.code(), StatusCode::kDeviceFailed);
  EXPECT_THAT(status.to_string(), HasSubstr("in a batch of"));
  EXPECT_THAT(status.to_string(), HasSubstr("the device is gone"));
  EXPECT_EQ(runs, 4) << "the device was asked once whether it is the request's fault";
  EXPECT_EQ(stats.texts, 0U);
  // The pipeline is as good as before.
  gone = false;
  ASSERT_TRUE(embed_once(*pipeline, mixed_texts(30), out, stats).ok());
  expect_vectors_of(mixed_texts(30), out);
}

TEST(PipelineTest, AJobThatIsDroppedWaitsForWhatHasBegun) {
  std::atomic<int> inside = 0;
  std::atomic<bool> has_entered = false;
  test::Latch entered(1);
  ToyScript script{.requests = 2};
  script.on_run = [&](const core::TensorView&) {
    ++inside;
    if (!has_entered.exchange(true)) entered.count_down();
    --inside;
    return Status();
  };
  const auto pipeline = pipeline_of(std::move(script));
  const auto texts = mixed_texts(500);
  std::vector<float> out(texts.size() * kToyDimension);
  {
    Pipeline::Job job(*pipeline);
    ASSERT_TRUE(pipeline->tokenize(views(texts), 0, job.tokens).ok());
    job.start(out.data(), 0, false, false);
    entered.wait();
  }
  EXPECT_EQ(inside, 0);
}

TEST(PipelineTest, ManyThreadsGetTheirOwnVectors) {
  const auto pipeline = pipeline_of({.requests = 3});
  std::atomic<int> good = 0;
  std::vector<std::thread> threads;
  const auto all = mixed_texts(200);
  for (std::size_t t = 0; t < 8; ++t) {
    threads.emplace_back([&, t] {
      const std::vector<std::string> mine(all.begin() + static_cast<std::ptrdiff_t>(t * 10), all.end());
      for (int round = 0; round < 5; ++round) {
        std::vector<float> out;
        EmbedStats stats;
        if (!embed_once(*pipeline, mine, out, stats).ok()) continue;
        expect_vectors_of(mine, out);
        ++good;
      }
    });
  }
  for (auto& thread : threads)
    thread.join();
  EXPECT_EQ(good, 40);
}

}  // namespace
}  // namespace latebind::embedding
