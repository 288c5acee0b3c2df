#include "embedding/embed_stream.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "embedding/pipeline.h"
#include "tests/embedding/toy_encoder.h"
#include "tests/support/latch.h"

namespace latebind::embedding {
namespace {

using core::Status;
using core::StatusCode;
using test::kToyDimension;
using test::ToyScript;
using ::testing::HasSubstr;

std::unique_ptr<Pipeline> stream_pipeline_of(ToyScript script, std::size_t batch_tokens = 64) {
  auto forward = Forward::bind(test::toy_model(script), {.normalize = true});
  EXPECT_TRUE(forward.ok()) << forward.status().to_string();
  return std::make_unique<Pipeline>(test::toy_tokenizer(), *std::move(forward), TokenLimits{32, 0}, batch_tokens);
}

std::string text_at(std::size_t i) {
  std::string text;
  for (std::size_t word = 0; word < i * 7 % 30; ++word) {
    text += static_cast<char>('a' + (i + word) % 26);
    text += ' ';
  }
  return text;
}

// Remembers what was delivered.
struct Delivered {
  std::vector<std::string> texts;
  std::vector<float> vectors;
  std::size_t calls = 0;

  VectorSink sink() {
    return [this](std::span<const std::string> t, std::span<const float> v) {
      ++calls;
      texts.insert(texts.end(), t.begin(), t.end());
      vectors.insert(vectors.end(), v.begin(), v.end());
      return Status();
    };
  }
};

void expect_right(const Delivered& delivered, std::size_t count) {
  const auto tokenizer = test::toy_tokenizer();
  ASSERT_EQ(delivered.texts.size(), count);
  ASSERT_EQ(delivered.vectors.size(), count * kToyDimension);
  for (std::size_t i = 0; i < count; ++i) {
    ASSERT_EQ(delivered.texts[i], text_at(i));
    std::vector<std::int32_t> ids;
    ASSERT_TRUE(tokenizer.encode(text_at(i), 32, ids).ok());
    const auto expected = test::toy_vector(ids);
    for (std::size_t d = 0; d < kToyDimension; ++d) {
      ASSERT_NEAR(delivered.vectors[i * kToyDimension + d], expected[d], 1e-5) << "text " << i;
    }
  }
}

TEST(EmbedStreamTest, DeliversEveryTextOnceInInputOrder) {
  for (const unsigned requests : {1U, 3U}) {
    const auto pipeline = stream_pipeline_of({.requests = requests});
    for (const std::size_t count : {0U, 1U, 9U, 10U, 11U, 1000U}) {
      Delivered delivered;
      EmbedStream stream(*pipeline, delivered.sink(), {.window_texts = 10});
      for (std::size_t i = 0; i < count; ++i)
        ASSERT_TRUE(stream.push(text_at(i)).ok());
      ASSERT_TRUE(stream.finish().ok());
      expect_right(delivered, count);
      EXPECT_EQ(delivered.calls, (count + 9) / 10);
      EXPECT_EQ(stream.stats().texts, count);
      EXPECT_EQ(stream.stats().seconds > 0, count > 0);
    }
  }
}

TEST(EmbedStreamTest, AWindowHasAsManyTextsAsABatchHasTokensWithinLimits) {
  for (const auto& [batch_tokens, window] :
       {std::pair<std::size_t, std::size_t>{64, 2048}, {3000, 3000}, {1 << 20, 16384}}) {
    const auto pipeline = stream_pipeline_of({}, batch_tokens);
    std::vector<std::size_t> sizes;
    EmbedStream stream(*pipeline, [&](std::span<const std::string> texts, std::span<const float>) {
      sizes.push_back(texts.size());
      return Status();
    });
    for (std::size_t i = 0; i < window + 1; ++i)
      ASSERT_TRUE(stream.push("x").ok());
    ASSERT_TRUE(stream.finish().ok());
    EXPECT_EQ(sizes, (std::vector<std::size_t>{window, 1}));
  }
}

TEST(EmbedStreamTest, AWindowEndsWhenItsBytesAreManyToo) {
  const auto pipeline = stream_pipeline_of({});
  Delivered delivered;
  EmbedStream stream(*pipeline, delivered.sink(), {.window_texts = 1000, .window_bytes = 100});
  for (int i = 0; i < 6; ++i)
    ASSERT_TRUE(stream.push(std::string(60, 'x')).ok());
  ASSERT_TRUE(stream.finish().ok());
  EXPECT_EQ(delivered.calls, 3U);
}

TEST(EmbedStreamTest, WindowsInFlightAreBounded) {
  std::atomic<std::size_t> computed = 0;
  ToyScript script{.requests = 2};
  script.on_run = [&](const core::TensorView& ids) {
    computed += static_cast<std::size_t>(ids.shape[0]);
    return Status();
  };
  const auto pipeline = stream_pipeline_of(std::move(script));
  std::size_t pushed = 0;
  std::size_t delivered = 0;
  EmbedStream stream(*pipeline,
                     [&](std::span<const std::string> texts, std::span<const float>) {
                       delivered += texts.size();
                       return Status();
                     },
                     {.window_texts = 5});
  for (; pushed < 500; ++pushed) {
    ASSERT_TRUE(stream.push(text_at(pushed)).ok());
    // Two windows in flight, and the one being filled.
    ASSERT_LE(pushed + 1 - delivered, 15U);
  }
  ASSERT_TRUE(stream.finish().ok());
  EXPECT_EQ(computed, 500U);
}

TEST(EmbedStreamTest, TheNextWindowIsFilledWhileOneIsComputed) {
  // The first window's runs wait until texts of the second were pushed: would push() wait for the first, this hung.
  test::Latch second_window(1);
  ToyScript script;
  script.on_run = [&](const core::TensorView&) {
    second_window.wait();
    return Status();
  };
  const auto pipeline = stream_pipeline_of(std::move(script));
  Delivered delivered;
  EmbedStream stream(*pipeline, delivered.sink(), {.window_texts = 10});
  for (std::size_t i = 0; i < 15; ++i)
    ASSERT_TRUE(stream.push(text_at(i)).ok());
  second_window.count_down();
  ASSERT_TRUE(stream.finish().ok());
  expect_right(delivered, 15);
}

TEST(EmbedStreamTest, WorkersGoOnWithTheNextWindowWhileAnOldOneEnds) {
  // Each run waits for another one to be in the model, and each window has one batch: two windows must be computed at
  // one time.
  test::Latch both(2);
  ToyScript script{.requests = 2};
  script.on_run = [&](const core::TensorView&) {
    both.arrive_and_wait();
    return Status();
  };
  const auto pipeline = stream_pipeline_of(std::move(script));
  Delivered delivered;
  EmbedStream stream(*pipeline, delivered.sink(), {.window_texts = 1});
  ASSERT_TRUE(stream.push(text_at(0)).ok());
  ASSERT_TRUE(stream.push(text_at(1)).ok());
  ASSERT_TRUE(stream.finish().ok());
  expect_right(delivered, 2);
}

TEST(EmbedStreamTest, ABadTextIsNamedByItsPositionInTheStreamAndTheErrorStays) {
  const auto pipeline = stream_pipeline_of({});
  Delivered delivered;
  EmbedStream stream(*pipeline, delivered.sink(), {.window_texts = 4});
  for (std::size_t i = 0; i < 9; ++i)
    ASSERT_TRUE(stream.push(text_at(i)).ok());
  const Status status = stream.push("\xff");
  EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(status.to_string(), HasSubstr("texts[9]"));
  EXPECT_EQ(stream.push("good").to_string(), status.to_string());
  EXPECT_EQ(stream.finish().to_string(), status.to_string());
}

TEST(EmbedStreamTest, AFailedRunEndsTheStream) {
  std::atomic<int> runs = 0;
  ToyScript script;
  script.on_run = [&](const core::TensorView&) {
    return ++runs >= 5 ? Status(StatusCode::kDeviceFailed, "the device is gone") : Status();
  };
  const auto pipeline = stream_pipeline_of(std::move(script));
  Delivered delivered;
  EmbedStream stream(*pipeline, delivered.sink(), {.window_texts = 4});
  Status status;
  for (std::size_t i = 0; i < 100 && status.ok(); ++i)
    status = stream.push(text_at(i));
  EXPECT_EQ(status.code(), StatusCode::kDeviceFailed);
  EXPECT_EQ(stream.finish().code(), StatusCode::kDeviceFailed);
  EXPECT_EQ(delivered.texts.size() % 4, 0U);
  EXPECT_LT(delivered.texts.size(), 100U);
}

TEST(EmbedStreamTest, AnErrorOfTheSinkEndsTheStream) {
  const auto pipeline = stream_pipeline_of({.requests = 2});
  int calls = 0;
  EmbedStream stream(*pipeline,
                     [&](std::span<const std::string>, std::span<const float>) {
                       return ++calls == 2 ? Status(StatusCode::kDiskFull, "no room") : Status();
                     },
                     {.window_texts = 3});
  Status status;
  for (std::size_t i = 0; i < 100 && status.ok(); ++i)
    status = stream.push(text_at(i));
  EXPECT_EQ(status.code(), StatusCode::kDiskFull);
  EXPECT_EQ(calls, 2);
  EXPECT_EQ(stream.push("more").code(), StatusCode::kDiskFull);
  EXPECT_EQ(calls, 2);
}

TEST(EmbedStreamTest, MayBeDroppedAtAnyTime) {
  const auto pipeline = stream_pipeline_of({.requests = 2});
  for (const std::size_t count : {0U, 1U, 4U, 9U, 30U}) {
    Delivered delivered;
    EmbedStream stream(*pipeline, delivered.sink(), {.window_texts = 4});
    for (std::size_t i = 0; i < count; ++i)
      ASSERT_TRUE(stream.push(text_at(i)).ok());
  }
}

TEST(EmbedStreamTest, StatsCountWhatWasDelivered) {
  const auto pipeline = stream_pipeline_of({});
  Delivered delivered;
  EmbedStream stream(*pipeline, delivered.sink(), {.window_texts = 2});
  for (const char* text : {"a", "a b", "a b c"})
    ASSERT_TRUE(stream.push(text).ok());
  ASSERT_TRUE(stream.push(text_at(4) + text_at(4)).ok());  // 56 letters, cut to 32 tokens
  ASSERT_TRUE(stream.finish().ok());
  EXPECT_EQ(stream.stats().texts, 4U);
  EXPECT_EQ(stream.stats().tokens, 3U + 4U + 5U + 32U);
  EXPECT_EQ(stream.stats().padded_tokens, 8U + 64U);
  EXPECT_EQ(stream.stats().truncated_texts, 1U);
  EXPECT_DOUBLE_EQ(stream.stats().padding_ratio(), 28.0 / 72.0);
}

}  // namespace
}  // namespace latebind::embedding
