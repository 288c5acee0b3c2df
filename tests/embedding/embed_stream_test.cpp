#include "embedding/embed_stream.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <memory>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

#include "core/vendor/vendor_call.h"
#include "embedding/outputs/pooling.h"
#include "embedding/pipeline.h"
#include "tests/embedding/toy_encoder.h"
#include "tests/embedding/toy_texts.h"
#include "tests/support/latch.h"

namespace latebind::embedding {
namespace {

using core::Result;
using core::Status;
using core::StatusCode;
using test::kToyDimension;
using test::mixed_text;
using test::mixed_texts;
using test::ToyScript;
using ::testing::HasSubstr;

constexpr std::size_t kWindowsMax = 3;  // that wait to be pulled

std::unique_ptr<Pipeline> stream_pipeline_of(ToyScript script, std::size_t batch_tokens = 64, bool normalize = true) {
  auto forward = Forward::bind(test::toy_model(script), test::toy_output({.normalize = normalize}));
  EXPECT_TRUE(forward.ok()) << forward.status().to_string();
  return std::make_unique<Pipeline>(test::toy_tokenizer(), *std::move(forward), TokenLimits{32, 0}, batch_tokens);
}

std::unique_ptr<EmbedStream> stream_over(Pipeline& pipeline, const EmbedStreamOptions& options = {}) {
  auto stream = EmbedStream::open(pipeline, options);
  EXPECT_TRUE(stream.ok()) << stream.status().to_string();
  return *std::move(stream);
}

// What was pulled, in order.
struct Pulled {
  std::vector<std::size_t> windows;  // texts of each
  std::vector<std::uint32_t> token_counts;
  std::vector<float> vectors;

  void add(const VectorWindow& window) {
    EXPECT_EQ(window.first, token_counts.size());
    windows.push_back(window.token_counts.size());
    token_counts.insert(token_counts.end(), window.token_counts.begin(), window.token_counts.end());
    vectors.insert(vectors.end(), window.vectors.begin(), window.vectors.end());
  }
  std::function<Status(const VectorWindow&)> sink() {
    return [this](const VectorWindow& window) {
      add(window);
      return Status();
    };
  }
  void expect_mixed(std::size_t count) const {
    ASSERT_EQ(token_counts.size(), count);
    test::expect_vectors_of(mixed_texts(count), vectors);
    for (std::size_t i = 0; i < count; ++i)
      EXPECT_EQ(token_counts[i], std::min<std::size_t>(32, i * 7 % 30 + 2)) << i;
  }
};

// The first `count` of the mixed texts, one after the other.
auto first_mixed(std::size_t count) {
  return [count, next = std::size_t{0}, text = std::string()]() mutable -> Result<std::optional<std::string_view>> {
    if (next == count) return std::optional<std::string_view>();
    text = mixed_text(next++);
    return std::optional<std::string_view>(text);
  };
}

auto all_of(std::vector<std::string> texts) {
  return [texts = std::move(texts), next = std::size_t{0}]() mutable -> Result<std::optional<std::string_view>> {
    if (next == texts.size()) return std::optional<std::string_view>();
    return std::optional<std::string_view>(texts[next++]);
  };
}

// Pushes the mixed texts of [first, end).
void push_mixed(EmbedStream& stream, std::size_t first, std::size_t end) {
  for (std::size_t i = first; i < end; ++i) {
    const Status status = stream.push(mixed_text(i));
    ASSERT_TRUE(status.ok()) << status.to_string();
  }
}

// Its runs wait for the latch.
ToyScript held_by(test::Latch& latch) {
  ToyScript script;
  script.on_run = [&latch](const core::TensorView&) {
    latch.wait();
    return Status();
  };
  return script;
}

TEST(EmbedStreamTest, GivesEveryTextOnceInInputOrder) {
  for (const unsigned requests : {1U, 3U}) {
    const auto pipeline = stream_pipeline_of({.requests = requests});
    for (const std::size_t count : {0U, 1U, 9U, 10U, 11U, 1000U}) {
      Pulled pulled;
      const auto stream = stream_over(*pipeline, {.window_texts = 10});
      EXPECT_EQ(stream->dimensions(), kToyDimension);
      ASSERT_TRUE(embed_all(*stream, first_mixed(count), pulled.sink()).ok());
      pulled.expect_mixed(count);
      EXPECT_EQ(pulled.windows.size(), (count + 9) / 10);
      EXPECT_EQ(stream->stats().texts, count);
      EXPECT_EQ(stream->stats().seconds > 0, count > 0);
    }
  }
}

TEST(EmbedStreamTest, AWindowHasAsManyTextsAsABatchHasTokensWithinLimits) {
  for (const auto& [batch_tokens, window] :
       {std::pair<std::size_t, std::size_t>{64, 2048}, {3000, 3000}, {1 << 20, 16384}}) {
    const auto pipeline = stream_pipeline_of({}, batch_tokens);
    Pulled pulled;
    const auto stream = stream_over(*pipeline);
    ASSERT_TRUE(embed_all(*stream, all_of(std::vector<std::string>(window + 1, "x")), pulled.sink()).ok());
    EXPECT_EQ(pulled.windows, (std::vector<std::size_t>{window, 1}));
  }
}

TEST(EmbedStreamTest, AWindowEndsWhenItsBytesAreManyToo) {
  const auto pipeline = stream_pipeline_of({});
  Pulled pulled;
  const auto stream = stream_over(*pipeline, {.window_texts = 1000, .window_bytes = 100});
  ASSERT_TRUE(embed_all(*stream, all_of(std::vector<std::string>(6, std::string(60, 'x'))), pulled.sink()).ok());
  EXPECT_EQ(pulled.windows.size(), 3U);
}

TEST(EmbedStreamTest, WindowsThatWaitAreBounded) {
  std::atomic<std::size_t> computed = 0;
  ToyScript script{.requests = 2};
  script.on_run = [&](const core::TensorView& ids) {
    computed += static_cast<std::size_t>(ids.shape[0]);
    return Status();
  };
  const auto pipeline = stream_pipeline_of(std::move(script));
  std::size_t pushed = 0;
  std::size_t delivered = 0;
  std::size_t most = 0;
  const auto stream = stream_over(*pipeline, {.window_texts = 5});
  auto texts = first_mixed(500);
  const Status status = embed_all(
      *stream,
      [&] {
        most = std::max(most, pushed - delivered);
        ++pushed;
        return texts();
      },
      [&](const VectorWindow& window) {
        delivered += window.token_counts.size();
        return Status();
      });
  ASSERT_TRUE(status.ok());
  EXPECT_LE(most, 5 * kWindowsMax);
  EXPECT_EQ(delivered, 500U);
  EXPECT_EQ(computed, 500U);
}

TEST(EmbedStreamTest, ATextThatFindsNoRoomIsBusyAndNothingIsLost) {
  const auto pipeline = stream_pipeline_of({});
  Pulled pulled;
  const auto stream = stream_over(*pipeline, {.window_texts = 4});
  push_mixed(*stream, 0, 4 * kWindowsMax);
  EXPECT_TRUE(stream->is_full());
  for (int again = 0; again < 3; ++again) {
    const Status busy = stream->push(mixed_text(4 * kWindowsMax));
    EXPECT_EQ(busy.code(), StatusCode::kBusy);
    EXPECT_THAT(busy.to_string(), HasSubstr("pull one first"));
  }
  const auto window = stream->pull();
  ASSERT_TRUE(window.ok());
  pulled.add(*window);
  EXPECT_FALSE(stream->is_full());
  push_mixed(*stream, 4 * kWindowsMax, 4 * kWindowsMax + 3);
  ASSERT_TRUE(stream->finish().ok());
  for (auto next = stream->pull(); next.ok() && !next->token_counts.empty(); next = stream->pull())
    pulled.add(*next);
  pulled.expect_mixed(4 * kWindowsMax + 3);
}

TEST(EmbedStreamTest, TheNextWindowIsFilledWhileOneIsComputed) {
  // The first window's runs wait until texts of the second were pushed: would push() wait for the first, this hung.
  test::Latch second_window(1);
  const auto pipeline = stream_pipeline_of(held_by(second_window));
  Pulled pulled;
  const auto stream = stream_over(*pipeline, {.window_texts = 10});
  push_mixed(*stream, 0, 15);
  EXPECT_FALSE(stream->is_ready());
  second_window.count_down();
  ASSERT_TRUE(stream->finish().ok());
  for (auto next = stream->pull(); next.ok() && !next->token_counts.empty(); next = stream->pull())
    pulled.add(*next);
  pulled.expect_mixed(15);
}

TEST(EmbedStreamTest, ThreadsGoOnWithTheNextWindowWhileAnOldOneEnds) {
  // Each run waits for another one to be in the model, and each window has one batch: two windows must be computed at
  // one time.
  test::Latch both(2);
  ToyScript script{.requests = 2};
  script.on_run = [&](const core::TensorView&) {
    both.arrive_and_wait();
    return Status();
  };
  const auto pipeline = stream_pipeline_of(std::move(script));
  Pulled pulled;
  const auto stream = stream_over(*pipeline, {.window_texts = 1});
  ASSERT_TRUE(embed_all(*stream, first_mixed(2), pulled.sink()).ok());
  pulled.expect_mixed(2);
}

TEST(EmbedStreamTest, TheEndIsAWindowWithoutTexts) {
  const auto pipeline = stream_pipeline_of({});
  const auto stream = stream_over(*pipeline, {.window_texts = 2});
  EXPECT_FALSE(stream->is_ready());
  push_mixed(*stream, 0, 3);
  ASSERT_TRUE(stream->finish().ok());
  for (const std::uint64_t first : {0U, 2U})
    EXPECT_EQ(stream->pull()->first, first);
  for (int again = 0; again < 2; ++again) {
    EXPECT_TRUE(stream->is_ready());
    const auto end = stream->pull();
    ASSERT_TRUE(end.ok());
    EXPECT_EQ(end->first, 3U);
    EXPECT_TRUE(end->token_counts.empty());
    EXPECT_TRUE(end->vectors.empty());
  }
  // Nothing comes after it.
  EXPECT_EQ(stream->push("more").code(), StatusCode::kInvalidArgument);
  EXPECT_TRUE(stream->finish().ok());
  EXPECT_TRUE(stream->pull()->token_counts.empty());

  const auto empty = stream_over(*pipeline);
  ASSERT_TRUE(empty->finish().ok());
  EXPECT_TRUE(empty->pull()->token_counts.empty());
  EXPECT_EQ(empty->stats().texts, 0U);
}

TEST(EmbedStreamTest, OneThreadPushesWhileAnotherPulls) {
  const auto pipeline = stream_pipeline_of({.requests = 2});
  for (const bool alone : {true, false}) {
    const auto stream = stream_over(*pipeline, {.window_texts = 7, .alone = alone});
    std::thread pusher([&] {
      for (std::size_t i = 0; i < 2000; ++i) {
        while (true) {
          const Status status = stream->push(mixed_text(i));
          if (status.code() != StatusCode::kBusy) {
            ASSERT_TRUE(status.ok()) << status.to_string();
            break;
          }
          ASSERT_TRUE(stream->wait_for_room({}).ok());
        }
      }
      ASSERT_TRUE(stream->finish().ok());
    });
    Pulled pulled;
    for (auto next = stream->pull(); next.ok() && !next->token_counts.empty(); next = stream->pull()) {
      pulled.add(*next);
      (void)stream->stats();
      (void)stream->is_full();
    }
    pusher.join();
    pulled.expect_mixed(2000);
  }
}

TEST(EmbedStreamTest, APullThatWaitsForTextsHearsOfThem) {
  const auto pipeline = stream_pipeline_of({});
  const auto stream = stream_over(*pipeline, {.window_texts = 2});
  test::Latch pulls(1);
  std::thread puller([&] {
    pulls.count_down();
    const auto window = stream->pull();
    ASSERT_TRUE(window.ok());
    EXPECT_EQ(window->token_counts.size(), 2U);
    EXPECT_TRUE(stream->pull()->token_counts.empty());
  });
  pulls.wait();
  push_mixed(*stream, 0, 2);
  ASSERT_TRUE(stream->finish().ok());
  puller.join();
}

TEST(EmbedStreamTest, APullThatIsCutShortLosesNothing) {
  const auto late = [] { return core::RunOptions{.deadline = std::chrono::steady_clock::now()}; };
  test::Latch let_go(1);
  const auto pipeline = stream_pipeline_of(held_by(let_go));
  const auto stream = stream_over(*pipeline, {.window_texts = 4});
  // No text is there yet.
  EXPECT_EQ(stream->pull(late()).status().code(), StatusCode::kDeadlineExceeded);
  push_mixed(*stream, 0, 8);
  // They are being computed.
  EXPECT_EQ(stream->pull(late()).status().code(), StatusCode::kDeadlineExceeded);
  const auto cancellation = core::Cancellation::create();
  std::thread canceller([&] { cancellation.request(); });
  EXPECT_EQ(stream->pull({.cancellation = cancellation}).status().code(), StatusCode::kCancelled);
  canceller.join();
  let_go.count_down();
  Pulled pulled;
  ASSERT_TRUE(stream->finish().ok());
  for (auto next = stream->pull(); next.ok() && !next->token_counts.empty(); next = stream->pull())
    pulled.add(*next);
  pulled.expect_mixed(8);
}

TEST(EmbedStreamTest, APullThatEndsLateJustWhenAWindowIsThereLosesNothingEither) {
  // As many tries as it takes for the last batch to end right after the time was up.
  const auto pipeline = stream_pipeline_of({});
  const auto stream = stream_over(*pipeline, {.window_texts = 1});
  for (std::size_t i = 0; i < 1000; ++i) {
    push_mixed(*stream, i, i + 1);
    bool is_there = false;
    while (!is_there) {
      const auto window = stream->pull({.deadline = std::chrono::steady_clock::now()});
      is_there = window.ok();
      if (is_there) break;
      ASSERT_EQ(window.status().code(), StatusCode::kDeadlineExceeded);
      ASSERT_TRUE(stream->wait_for_room({}).ok()) << "the deadline has become an error that stays";
    }
  }
}

TEST(EmbedStreamTest, AWindowStaysUntilTheNextOneIsThere) {
  std::atomic<int> runs = 0;
  test::Latch let_go(1);
  ToyScript script;
  script.on_run = [&](const core::TensorView&) {
    if (++runs > 1) let_go.wait();
    return Status();
  };
  const auto pipeline = stream_pipeline_of(std::move(script));
  const auto stream = stream_over(*pipeline, {.window_texts = 1});
  push_mixed(*stream, 0, 1);
  const auto window = stream->pull();
  ASSERT_TRUE(window.ok());
  const auto late = stream->pull({.deadline = std::chrono::steady_clock::now()});
  EXPECT_EQ(late.status().code(), StatusCode::kDeadlineExceeded);
  push_mixed(*stream, 1, 3);  // would use the memory of one that has gone
  EXPECT_EQ(stream->pull({.deadline = std::chrono::steady_clock::now()}).status().code(),
            StatusCode::kDeadlineExceeded);
  ASSERT_EQ(window->token_counts.size(), 1U);
  EXPECT_EQ(window->token_counts[0], 2U);
  test::expect_vectors_of(mixed_texts(1), window->vectors);
  let_go.count_down();
}

TEST(EmbedStreamTest, WaitingForRoomEndsWithItsTime) {
  test::Latch let_go(1);
  const auto pipeline = stream_pipeline_of(held_by(let_go));
  const auto stream = stream_over(*pipeline, {.window_texts = 1});
  EXPECT_TRUE(stream->wait_for_room({}).ok());
  push_mixed(*stream, 0, kWindowsMax);
  EXPECT_EQ(stream->wait_for_room({.deadline = std::chrono::steady_clock::now()}).code(),
            StatusCode::kDeadlineExceeded);
  const auto cancellation = core::Cancellation::create();
  test::Latch waits(1);
  std::thread canceller([&] {
    waits.wait();
    cancellation.request();
  });
  waits.count_down();
  EXPECT_EQ(stream->wait_for_room({.cancellation = cancellation}).code(), StatusCode::kCancelled);
  canceller.join();
  // Room comes with the window that is pulled on another thread.
  std::thread puller([&] {
    let_go.count_down();
    EXPECT_TRUE(stream->pull().ok());
  });
  EXPECT_TRUE(stream->wait_for_room({}).ok());
  puller.join();
}

TEST(EmbedStreamTest, ABadTextIsNamedByItsPositionInTheStreamAndTheErrorStays) {
  const auto pipeline = stream_pipeline_of({});
  const auto stream = stream_over(*pipeline, {.window_texts = 4});
  push_mixed(*stream, 0, 9);
  const Status status = stream->push("\xff");
  EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(status.to_string(), HasSubstr("texts[9]"));
  EXPECT_EQ(stream->push("good").to_string(), status.to_string());
  EXPECT_EQ(stream->pull().status().to_string(), status.to_string());
  EXPECT_EQ(stream->wait_for_room({}).to_string(), status.to_string());
  EXPECT_EQ(stream->finish().to_string(), status.to_string());
  EXPECT_TRUE(stream->is_ready());
}

TEST(EmbedStreamTest, AFailedRunEndsTheStream) {
  std::atomic<int> runs = 0;
  ToyScript script;
  script.on_run = [&](const core::TensorView&) {
    return ++runs >= 5 ? Status(StatusCode::kDeviceFailed, "the device is gone") : Status();
  };
  const auto pipeline = stream_pipeline_of(std::move(script));
  Pulled pulled;
  const auto stream = stream_over(*pipeline, {.window_texts = 4});
  EXPECT_EQ(embed_all(*stream, first_mixed(100), pulled.sink()).code(), StatusCode::kDeviceFailed);
  EXPECT_EQ(stream->finish().code(), StatusCode::kDeviceFailed);
  EXPECT_EQ(stream->push("more").code(), StatusCode::kDeviceFailed);
  EXPECT_EQ(pulled.token_counts.size() % 4, 0U);
  EXPECT_LT(pulled.token_counts.size(), 100U);
}

TEST(EmbedStreamTest, AnErrorOfTheSinkOrOfTheTextsEndsThatOnly) {
  const auto pipeline = stream_pipeline_of({.requests = 2});
  int calls = 0;
  const auto stream = stream_over(*pipeline, {.window_texts = 3});
  const Status full = embed_all(*stream, first_mixed(100), [&](const VectorWindow&) {
    return ++calls == 2 ? Status(StatusCode::kDiskFull, "no room") : Status();
  });
  EXPECT_EQ(full.code(), StatusCode::kDiskFull);
  EXPECT_EQ(calls, 2);
  const auto other = stream_over(*pipeline, {.window_texts = 3});
  const Status unread = embed_all(
      *other, []() -> Result<std::optional<std::string_view>> { return Status(StatusCode::kIo, "cannot be read"); },
      [](const VectorWindow&) { return Status(); });
  EXPECT_EQ(unread.code(), StatusCode::kIo);
}

TEST(EmbedStreamTest, MayBeDroppedAtAnyTime) {
  const auto pipeline = stream_pipeline_of({.requests = 2});
  for (const std::size_t count : {0U, 1U, 4U, 9U, 12U}) {
    for (const bool is_finished : {false, true}) {
      const auto stream = stream_over(*pipeline, {.window_texts = 4});
      push_mixed(*stream, 0, count);
      if (is_finished) {
        EXPECT_TRUE(stream->finish().ok());
      }
    }
  }
}

TEST(EmbedStreamTest, StatsCountWhatWasPulled) {
  const auto pipeline = stream_pipeline_of({});
  Pulled pulled;
  const auto stream = stream_over(*pipeline, {.window_texts = 2});
  // 56 letters, cut to 32 tokens
  const std::string longest = mixed_text(4) + " " + mixed_text(4);
  ASSERT_TRUE(embed_all(*stream, all_of({"a", "a b", "a b c", longest}), pulled.sink()).ok());
  EXPECT_EQ(stream->stats().texts, 4U);
  EXPECT_EQ(stream->stats().tokens, 3U + 4U + 5U + 32U);
  // The last two are too different to be computed together.
  EXPECT_EQ(stream->stats().padded_tokens, 8U + 37U);
  EXPECT_EQ(stream->stats().truncated_texts, 1U);
  EXPECT_DOUBLE_EQ(stream->stats().padding_ratio(), 1.0 / 45.0);
  EXPECT_EQ(pulled.token_counts, (std::vector<std::uint32_t>{3, 4, 5, 32}));
}

TEST(EmbedStreamTest, TextsMayBeTakenInAnotherWay) {
  const auto pipeline = stream_pipeline_of({}, 64, /*normalize=*/true);
  Pulled pulled;
  const auto stream = stream_over(*pipeline, {.window_texts = 4, .texts = {.dimensions = 2, .max_tokens = 5}});
  EXPECT_EQ(stream->dimensions(), 2U);
  ASSERT_TRUE(embed_all(*stream, first_mixed(10), pulled.sink()).ok());
  ASSERT_EQ(pulled.vectors.size(), 20U);
  const auto tokenizer = test::toy_tokenizer();
  for (std::size_t i = 0; i < 10; ++i) {
    std::vector<std::int32_t> ids;
    ASSERT_TRUE(tokenizer.encode(mixed_text(i), 5, ids).ok());
    auto expected = test::toy_vector(ids);
    expected.resize(2);
    normalize(expected);
    EXPECT_EQ(pulled.token_counts[i], ids.size());
    for (std::size_t d = 0; d < 2; ++d)
      EXPECT_NEAR(pulled.vectors[2 * i + d], expected[d], 1e-5) << i;
  }
  const auto strict = stream_over(*pipeline, {.texts = {.max_tokens = 5, .refuse_longer = true}});
  EXPECT_TRUE(strict->push("a b c").ok());
  const Status refused = strict->push("a b c d");
  EXPECT_EQ(refused.code(), StatusCode::kTextTooLong);
  EXPECT_THAT(refused.to_string(), HasSubstr("texts[1]: the text has 6 tokens; at most 5 are taken"));
}

TEST(EmbedStreamTest, OptionsThatMakeNoSenseAreRefused) {
  const auto pipeline = stream_pipeline_of({});
  for (const TextOptions& texts : {TextOptions{.dimensions = kToyDimension + 1}, TextOptions{.max_tokens = 33}}) {
    const auto refused = EmbedStream::open(*pipeline, {.texts = texts});
    EXPECT_EQ(refused.status().code(), StatusCode::kInvalidArgument);
  }
}

TEST(EmbedStreamTest, AStreamDoesNotHoldUpALoneText) {
  // The stream's first run is held; the text comes right after it.
  test::Latch entered(1);
  test::Latch let_go(1);
  std::atomic<int> runs = 0;
  std::vector<std::int64_t> rows;
  ToyScript script;
  script.on_run = [&](const core::TensorView& ids) {
    rows.push_back(ids.shape[0]);
    if (++runs == 1) {
      entered.count_down();
      let_go.wait();
    }
    return Status();
  };
  const auto pipeline = stream_pipeline_of(std::move(script));
  const auto stream = stream_over(*pipeline, {.window_texts = 100});
  for (int i = 0; i < 200; ++i)
    ASSERT_TRUE(stream->push("a b").ok());
  entered.wait();
  Scheduler::Owner owner;
  TokenTable tokens;
  ASSERT_TRUE(pipeline->tokenize("a", pipeline->limits(), 0, tokens).ok());
  auto lone = pipeline->scheduler().submit(owner, {.tokens = std::move(tokens)});
  ASSERT_TRUE(lone.ok());
  let_go.count_down();
  ASSERT_TRUE(lone->wait().ok());
  ASSERT_TRUE(stream->finish().ok());
  EXPECT_TRUE(stream->pull().ok());
  EXPECT_TRUE(stream->pull().ok());
  ASSERT_GE(rows.size(), 2U);
  EXPECT_EQ(rows[0], 16);
  EXPECT_EQ(rows[1], 1);
}

}  // namespace
}  // namespace latebind::embedding
