// Submissions for which no thread waits.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <mutex>
#include <thread>
#include <vector>

#include "embedding/schedule/scheduler.h"
#include "tests/embedding/schedule/scheduler_rig.h"
#include "tests/embedding/toy_encoder.h"
#include "tests/support/latch.h"

namespace latebind::embedding {
namespace {

using core::Status;
using core::StatusCode;
using schedule_test::Hold;
using schedule_test::Ids;
using schedule_test::Rig;
using schedule_test::texts_of;
using test::kToyDimension;
using ::testing::HasSubstr;

// What became of texts that were submitted with a Done.
struct Told {
  Scheduler::Done done() {
    return [this](Scheduler::Submission submission) {
      {
        const std::lock_guard lock(mutex);
        ++times;
        status = submission.wait();
        const auto rows = submission.vectors();
        vectors.assign(rows.begin(), rows.end());
        when = submission.times();
      }
      came.count_down();
    };
  }
  test::Latch came{1};
  std::mutex mutex;
  int times = 0;
  Status status;
  std::vector<float> vectors;
  Scheduler::Times when;
};

Scheduler::Texts texts_to_submit(const std::vector<Ids>& texts, std::uint64_t queue_tokens_max = 0) {
  Scheduler::Texts submitted;
  for (const Ids& ids : texts)
    EXPECT_TRUE(submitted.tokens.add(ids, {1 << 20, 0}).ok());
  submitted.queue_tokens_max = queue_tokens_max;
  return submitted;
}

TEST(SchedulerDoneTest, IsToldOnceWithTheVectors) {
  for (const std::size_t requests : {1U, 3U}) {
    Told told;
    Rig rig({.requests = requests, .batch_tokens = 16});
    const auto texts = texts_of(7, 5, 40);
    ASSERT_TRUE(rig.scheduler.submit_and_tell(texts_to_submit(texts), told.done()).ok());
    told.came.wait();
    const std::lock_guard lock(told.mutex);
    EXPECT_EQ(told.times, 1);
    EXPECT_TRUE(told.status.ok());
    ASSERT_EQ(told.vectors.size(), texts.size() * kToyDimension);
    for (std::size_t i = 0; i < texts.size(); ++i)
      test::expect_toy_vector(texts[i], std::span(told.vectors).subspan(i * kToyDimension, kToyDimension));
    EXPECT_LE(told.when.submitted, told.when.begun);
    EXPECT_LE(told.when.begun, told.when.over);
  }
}

TEST(SchedulerDoneTest, IsToldOfNoTextsAtOnce) {
  Told told;
  Rig rig({});
  ASSERT_TRUE(rig.scheduler.submit_and_tell({}, told.done()).ok());
  EXPECT_EQ(told.times, 1);
  EXPECT_TRUE(told.status.ok());
}

TEST(SchedulerDoneTest, IsToldOfAnError) {
  Told told;
  Rig rig({}, [](std::size_t) { return Status(StatusCode::kDeviceFailed, "the device is gone"); });
  ASSERT_TRUE(rig.scheduler.submit_and_tell(texts_to_submit(texts_of(7, 5, 3)), told.done()).ok());
  told.came.wait();
  const std::lock_guard lock(told.mutex);
  EXPECT_EQ(told.status.code(), StatusCode::kDeviceFailed);
}

TEST(SchedulerDoneTest, WhatIsDroppedIsNotBegunAndIsOverWithWhatRan) {
  Hold hold;
  Told told;
  Rig rig({.requests = 1, .batch_tokens = 8}, [&](std::size_t number) {
    if (number == 0) hold.stop();
    return Status();
  });
  const auto ticket = rig.scheduler.submit_and_tell(texts_to_submit(texts_of(7, 8, 20)), told.done());
  ASSERT_TRUE(ticket.ok());
  hold.entered.wait();
  EXPECT_EQ(rig.scheduler.queue_state().waiting_texts, 19U);
  EXPECT_EQ(rig.scheduler.queue_state().waiting_tokens, 19U * 8);
  EXPECT_EQ(rig.scheduler.queue_state().running_batches, 1U);
  EXPECT_FALSE(rig.runs->limits_of(0).is_bounded());
  EXPECT_FALSE(rig.runs->limits_of(0).nobody_waits.is_requested());
  ticket->drop();
  EXPECT_TRUE(rig.runs->limits_of(0).nobody_waits.is_requested());
  EXPECT_EQ(rig.scheduler.queue_state().waiting_texts, 0U);
  EXPECT_EQ(rig.scheduler.queue_state().waiting_tokens, 0U);
  hold.let_go.count_down();
  told.came.wait();
  ticket->drop();  // there is nothing left to drop
  EXPECT_EQ(told.times, 1);
  EXPECT_EQ(told.status.code(), StatusCode::kCancelled);
  EXPECT_EQ(rig.runs->so_far().size(), 1U);
}

TEST(SchedulerDoneTest, WhatWaitsBehindOthersIsOverAsSoonAsItIsDropped) {
  Hold hold;
  Told first;
  Told second;
  Rig rig({.requests = 1}, [&](std::size_t number) {
    if (number == 0) hold.stop();
    return Status();
  });
  ASSERT_TRUE(rig.scheduler.submit_and_tell(texts_to_submit(texts_of(7, 8, 1)), first.done()).ok());
  hold.entered.wait();
  const auto ticket = rig.scheduler.submit_and_tell(texts_to_submit(texts_of(8, 8, 1)), second.done());
  ASSERT_TRUE(ticket.ok());
  ticket->drop();
  EXPECT_EQ(second.times, 1);
  EXPECT_EQ(second.status.code(), StatusCode::kCancelled);
  hold.let_go.count_down();
  first.came.wait();
  EXPECT_TRUE(first.status.ok());
}

TEST(SchedulerDoneTest, ARunGoesOnAsLongAsSomebodyWaitsForIt) {
  Hold first_run;
  Hold shared_run;
  Told first;
  Told second;
  Told third;
  Rig rig({.requests = 1, .batch_tokens = 16}, [&](std::size_t number) {
    (number == 0 ? first_run : shared_run).stop();
    return Status();
  });
  ASSERT_TRUE(rig.scheduler.submit_and_tell(texts_to_submit(texts_of(7, 8, 1)), first.done()).ok());
  first_run.entered.wait();
  const auto gone = rig.scheduler.submit_and_tell(texts_to_submit(texts_of(8, 8, 1)), second.done());
  const auto also_gone = rig.scheduler.submit_and_tell(texts_to_submit(texts_of(9, 8, 1)), third.done());
  ASSERT_TRUE(gone.ok() && also_gone.ok());
  first_run.let_go.count_down();
  shared_run.entered.wait();
  ASSERT_EQ(rig.runs->so_far().size(), 2U);
  const auto is_given_up = [&] { return rig.runs->limits_of(1).nobody_waits.is_requested(); };
  gone->drop();
  EXPECT_FALSE(is_given_up());
  also_gone->drop();
  EXPECT_TRUE(is_given_up());
  EXPECT_FALSE(rig.runs->limits_of(0).nobody_waits.is_requested());
  shared_run.let_go.count_down();
  third.came.wait();
  EXPECT_EQ(third.status.code(), StatusCode::kCancelled);
  first.came.wait();
  EXPECT_TRUE(first.status.ok());
  second.came.wait();
}

TEST(SchedulerDoneTest, TooManyTokensAreRefusedUnlessNothingWaits) {
  Hold hold;
  Told running;
  Told large;
  Told refused;
  Rig rig({.requests = 1}, [&](std::size_t number) {
    if (number == 0) hold.stop();
    return Status();
  });
  ASSERT_TRUE(rig.scheduler.submit_and_tell(texts_to_submit(texts_of(7, 8, 1), 10), running.done()).ok());
  hold.entered.wait();
  // Nothing waits: also more than the limit is taken.
  ASSERT_TRUE(rig.scheduler.submit_and_tell(texts_to_submit(texts_of(7, 8, 3), 10), large.done()).ok());
  const auto status = rig.scheduler.submit_and_tell(texts_to_submit(texts_of(7, 8, 1), 10), refused.done()).status();
  EXPECT_EQ(status.code(), StatusCode::kBusy);
  EXPECT_THAT(status.to_string(), HasSubstr("24 tokens waiting already and 8 being computed, and these are 8 more"));
  hold.let_go.count_down();
  large.came.wait();
  running.came.wait();
  EXPECT_EQ(refused.times, 0);
}

TEST(SchedulerDoneTest, WhatRunsCountsAgainstWhatMayWait) {
  Hold hold;
  std::array<Told, 3> told;
  Rig rig({.requests = 1}, [&](std::size_t number) {
    if (number == 0) hold.stop();
    return Status();
  });
  const auto submit = [&](std::size_t who) {
    return rig.scheduler.submit_and_tell(texts_to_submit(texts_of(7, 8, 1), 24), told[who].done());
  };
  ASSERT_TRUE(rig.scheduler.submit_and_tell(texts_to_submit(texts_of(7, 8, 2), 24), told[0].done()).ok());
  hold.entered.wait();
  EXPECT_EQ(rig.scheduler.queue_state().running_tokens, 16U);
  ASSERT_TRUE(submit(1).ok());
  // 8 wait and 16 run: whoever comes now would wait for 24.
  EXPECT_EQ(submit(2).status().code(), StatusCode::kBusy);
  hold.let_go.count_down();
  told[0].came.wait();
  told[1].came.wait();
  while (rig.scheduler.queue_state().running_batches > 0)
    std::this_thread::yield();
  EXPECT_EQ(rig.scheduler.queue_state().running_tokens, 0U);
  EXPECT_TRUE(submit(2).ok());
  told[2].came.wait();
}

TEST(SchedulerDoneTest, ManyThreadsThatSubmitAndDropAreEachToldOnce) {
  Rig rig({.requests = 2, .batch_tokens = 32});
  constexpr int kEach = 60;
  std::atomic<int> told = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < kEach; ++i) {
        const auto some = static_cast<std::size_t>(i);
        const auto ticket = rig.scheduler.submit_and_tell(texts_to_submit(texts_of(5 + t, 3 + some % 9, 1 + some % 5)),
                                                          [&](const Scheduler::Submission&) { ++told; });
        ASSERT_TRUE(ticket.ok());
        if (i % 3 == t % 3) ticket->drop();
      }
    });
  }
  for (std::thread& thread : threads)
    thread.join();
  while (told < 4 * kEach)
    std::this_thread::yield();
  EXPECT_EQ(told, 4 * kEach);
  EXPECT_EQ(rig.scheduler.queue_state().waiting_tokens, 0U);
}

}  // namespace
}  // namespace latebind::embedding
