// What one submission gets: its vectors, errors and statistics.
#include "embedding/schedule/scheduler.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "tests/embedding/schedule/scheduler_rig.h"
#include "tests/embedding/toy_encoder.h"
#include "tests/embedding/toy_texts.h"
#include "tests/support/latch.h"

namespace latebind::embedding {
namespace {

using core::Status;
using core::StatusCode;
using schedule_test::Client;
using schedule_test::Hold;
using schedule_test::ids_of;
using schedule_test::kNoNumber;
using schedule_test::Rig;
using schedule_test::Runs;
using schedule_test::text_of;
using schedule_test::texts_of;
using schedule_test::within;
using test::kToyDimension;
using test::ToyScript;
using ::testing::HasSubstr;

TEST(SchedulerTest, VectorsComeInTheOrderOfTheTexts) {
  for (const std::size_t requests : {1U, 2U, 5U}) {
    for (const bool caller_helps : {true, false}) {
      Rig rig({.requests = requests, .batch_tokens = 64});
      std::vector<float> out(301 * kToyDimension, -7.0F);
      Client client(rig, ids_of(test::mixed_texts(301)), {.caller_helps = caller_helps, .out = out.data()});
      client.expect_right(out.data());
      const EmbedStats stats = client.submission.stats();
      EXPECT_EQ(stats.texts, 301U);
      EXPECT_EQ(stats.truncated_texts, 0U);
      EXPECT_EQ(stats.fallback_texts, 0U);
      EXPECT_GE(stats.padded_tokens, stats.tokens);
      EXPECT_EQ(client.submission.answered_by()->active.backend, "toy");
      EXPECT_EQ(client.submission.token_counts()[1], 9U);
    }
  }
}

TEST(SchedulerTest, NoTextsAreOverAtOnceAndATextWithoutATokenIsZero) {
  Rig rig({});
  Client none(rig, {});
  EXPECT_TRUE(none.submission.is_over());
  none.expect_right();
  // A tokenizer without special tokens gives none for an empty text.
  std::string text = test::toy_tokenizer_json();
  const auto special = text.find("\"post_processor\"");
  text.replace(special, text.find("\"decoder\"") - special, "\"post_processor\":null,");
  const auto tokenizer = Tokenizer::from_json(text, "the bare tokenizer");
  ASSERT_TRUE(tokenizer.ok()) << tokenizer.status().to_string();
  TokenTable tokens;
  ASSERT_TRUE(tokens.add(*tokenizer, {8, 0}, "").ok());
  std::vector<float> out(kToyDimension, -7.0F);
  Scheduler::Owner owner;
  auto empty = rig.scheduler.submit(owner, {.tokens = std::move(tokens), .wanted = {{.out = out.data()}}});
  ASSERT_TRUE(empty.ok());
  EXPECT_TRUE(empty->wait().ok());
  EXPECT_THAT(out, ::testing::Each(0.0F));
  EXPECT_EQ(rig.runs->so_far().size(), 0U);
}

TEST(SchedulerTest, AsManyBatchesRunSideBySideAsThereAreRequests) {
  for (const bool caller_helps : {true, false}) {
    // Every run waits for another one: the test ends only if two are in the model at one time.
    test::Latch both(2);
    Rig rig({.requests = 2, .batch_tokens = 4}, [&](std::size_t) {
      both.arrive_and_wait();
      return Status();
    });
    Client client(rig, texts_of(5, 3, 2), {.caller_helps = caller_helps});
    client.expect_right();
    EXPECT_EQ(client.submission.stats().padded_tokens, 6U);
  }
}

// Whoever comes next waits for less, and as many runs as there are requests have a share of the device each.
TEST(SchedulerTest, ADeviceThatLeavesPaddingOutGetsSmallBatchesAndKnowsHowManyThereAre) {
  Rig rig({.requests = 2}, nullptr, {.leaves_padding_out = true});
  Client lone(rig, texts_of(6, 9, 1));
  lone.expect_right();
  Client many(rig, texts_of(5, 20, 400));
  many.expect_right();
  EXPECT_EQ(many.submission.stats().padded_tokens, 8000U);
  for (const Runs::Run& run : rig.runs->so_far())
    EXPECT_LE(run.tokens, 256U);
  EXPECT_GE(rig.runs->so_far().size(), 33U);
  EXPECT_EQ(rig.runs->limits_of(0).side_by_side, 1U);
  EXPECT_EQ(rig.runs->limits_of(1).side_by_side, 2U);
}

TEST(SchedulerTest, NoMoreRunsAreUnderWayThanThereAreRequests) {
  std::atomic<int> inside = 0;
  std::atomic<int> most = 0;
  const auto on_run = [&](std::size_t) {
    const int now = ++inside;
    int seen = most;
    while (seen < now && !most.compare_exchange_weak(seen, now)) {
    }
    std::this_thread::yield();
    --inside;
    return Status();
  };
  Rig rig({.requests = 2, .batch_tokens = 8}, on_run);
  std::vector<std::thread> threads;
  for (int t = 0; t < 6; ++t) {
    threads.emplace_back([&, t] {
      Client client(rig, texts_of(5 + t, 4, 40), {.alone = t % 2 == 0, .caller_helps = t % 3 != 0});
      client.expect_right();
    });
  }
  for (std::thread& thread : threads)
    thread.join();
  EXPECT_EQ(most, 2);
}

TEST(SchedulerTest, WhoeverWaitsForALoneTextComputesIt) {
  Rig rig({});
  Client helps(rig, texts_of(5, 4, 1), {.caller_helps = true});
  helps.expect_right();
  EXPECT_EQ(rig.runs->so_far().at(0).thread, std::this_thread::get_id());
  // Not within limits: the vendor's call does not end with them.
  Client limited(rig, texts_of(5, 4, 1), {.caller_helps = true, .limits = within(std::chrono::hours(1))});
  EXPECT_TRUE(limited.submission.wait(within(std::chrono::hours(1))).ok());
  EXPECT_NE(rig.runs->so_far().at(1).thread, std::this_thread::get_id());
  // Nor where others were told to.
  Client waits(rig, texts_of(5, 4, 1));
  waits.expect_right();
  EXPECT_NE(rig.runs->so_far().at(2).thread, std::this_thread::get_id());
}

TEST(SchedulerTest, WhoeverComputesForItselfGoesOnWithoutTheTeam) {
  Rig rig({.requests = 1, .batch_tokens = 8});
  Client client(rig, texts_of(5, 8, 20), {.caller_helps = true});
  client.expect_right();
  for (const auto& run : rig.runs->so_far())
    EXPECT_EQ(run.thread, std::this_thread::get_id());
}

TEST(SchedulerTest, TheTeamGoesOnWhileTheOneWhoWaitsComputes) {
  // The run of this thread ends after all others: would one of them be kept for it, this hung.
  const auto caller = std::this_thread::get_id();
  test::Latch others(5);
  std::atomic<bool> has_begun = false;
  Rig rig({.requests = 2, .batch_tokens = 8}, [&](std::size_t) {
    if (std::this_thread::get_id() != caller) {
      others.count_down();
    } else if (!has_begun.exchange(true)) {
      others.wait();
    }
    return Status();
  });
  Client client(rig, texts_of(5, 8, 6), {.caller_helps = true});
  client.expect_right();
}

TEST(SchedulerTest, HelpEndsWhenNothingIsLeftToBegin) {
  Hold hold;
  const auto caller = std::this_thread::get_id();
  Rig rig({.requests = 2, .batch_tokens = 8}, [&](std::size_t) {
    if (std::this_thread::get_id() != caller) hold.stop();
    return Status();
  });
  Client client(rig, texts_of(5, 8, 4), {.caller_helps = true});
  EXPECT_TRUE(client.submission.help().ok());  // though one batch is still held
  EXPECT_FALSE(client.submission.is_over());
  hold.let_go.count_down();
  client.expect_right();
}

TEST(SchedulerTest, AVectorThatIsNotFiniteIsRefusedByTheTextsPosition) {
  for (const bool pooled : {false, true}) {
    Rig rig({.batch_tokens = 64}, nullptr, {.pooled = pooled});
    Client good(rig, {text_of(5, 3), text_of(6, 4), text_of(7, 5)});
    good.expect_right();
    Client batch(rig, {text_of(5, 3), text_of(kNoNumber, 4), text_of(7, 5)});
    const Status status = batch.submission.wait();
    EXPECT_THAT(status.to_string(),
                HasSubstr("texts[1]: toy:CPU gave a vector with numbers that are not finite, in f32"));
    // It is not asked again, and nobody is told to try again.
    EXPECT_EQ(status.code(), StatusCode::kInternal);
    EXPECT_FALSE(core::is_retryable(status.code()));
    EXPECT_EQ(rig.runs->so_far().size(), 2U);
    Client alone(rig, texts_of(kNoNumber, 3, 1), {.first_position = 17});
    EXPECT_THAT(alone.submission.wait().to_string(), HasSubstr("texts[17]: toy:CPU"));
  }
}

TEST(SchedulerTest, AVectorThatHasLostItsLengthIsRefused) {
  ToyScript script;
  script.spoil = [](std::int64_t mark, float value) { return mark == kNoNumber ? 0.0F : value; };
  Rig rig({}, nullptr, std::move(script));
  Client good(rig, {text_of(5, 3), text_of(6, 4)});
  good.expect_right();
  Client bad(rig, {text_of(5, 3), text_of(kNoNumber, 4)});
  EXPECT_THAT(bad.submission.wait().to_string(),
              HasSubstr("texts[1]: toy:CPU gave a vector of zeros, where its length is to be 1, in f32"));
}

TEST(SchedulerTest, AFailedRunStopsWhatFollowsAndSaysWhere) {
  std::atomic<int> runs = 0;
  std::atomic<bool> gone = true;
  Rig rig({.batch_tokens = 64}, [&](std::size_t) {
    return ++runs >= 3 && gone ? Status(StatusCode::kDeviceFailed, "the device is gone") : Status();
  });
  Client client(rig, ids_of(test::mixed_texts(300)));
  const Status status = client.submission.wait();
  EXPECT_EQ(status.code(), StatusCode::kDeviceFailed);
  EXPECT_THAT(status.to_string(), HasSubstr("in a batch of"));
  EXPECT_THAT(status.to_string(), HasSubstr("the device is gone"));
  EXPECT_EQ(runs, 4) << "the device was asked once whether it is the request's fault";
  // It is as good as before.
  gone = false;
  Client next(rig, ids_of(test::mixed_texts(30)));
  next.expect_right();
}

TEST(SchedulerTest, SaysWhenAFallbackAnswered) {
  ToyScript broken;
  broken.on_run = nullptr;
  Rig rig(
      {}, [](std::size_t) { return Status(StatusCode::kDeviceFailed, "broken"); }, std::move(broken), ToyScript{});
  Client client(rig, texts_of(5, 4, 3));
  client.expect_right();
  EXPECT_EQ(client.submission.stats().fallback_texts, 3U);
  EXPECT_TRUE(client.submission.answered_by()->fallback);
  EXPECT_THAT(client.submission.answered_by()->reason, HasSubstr("broken"));
}

}  // namespace
}  // namespace latebind::embedding
