// Bounds of the queue, a lack of threads, and submissions that are dropped.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <random>
#include <thread>
#include <utility>
#include <vector>

#include "embedding/schedule/scheduler.h"
#include "tests/embedding/schedule/scheduler_rig.h"
#include "tests/embedding/toy_encoder.h"
#include "tests/embedding/toy_texts.h"
#include "tests/support/latch.h"

namespace latebind::embedding {
namespace {

using core::Status;
using core::StatusCode;
using schedule_test::Client;
using schedule_test::Clients;
using schedule_test::HeldRig;
using schedule_test::Hold;
using schedule_test::How;
using schedule_test::ids_of;
using schedule_test::Rig;
using schedule_test::texts_of;
using schedule_test::within;
using test::kToyDimension;
using ::testing::ElementsAre;

TEST(SchedulerBoundsTest, MoreThanSoManyAreBusyUntilOneHasGone) {
  HeldRig held({.batch_tokens = 64});
  while (held.clients.size() + 1 < Scheduler::kSubmissionsMax)
    held.add(10, 8);
  EXPECT_TRUE(held.clients.back()->refusal.ok());
  held.add(10, 8);
  EXPECT_EQ(held.clients.back()->refusal.code(), StatusCode::kBusy);
  held.clients.pop_back();
  held.clients.pop_back();
  held.add(10, 8);
  EXPECT_TRUE(held.clients.back()->refusal.ok());
  held.open();
  held.expect_all_right();
}

TEST(SchedulerBoundsTest, WithoutThreadsWhoeverWaitsComputes) {
  for (const bool caller_helps : {false, true}) {
    Rig rig({.requests = 2, .batch_tokens = 64, .threads = 0});
    Client first(rig, ids_of(test::mixed_texts(100)), {.alone = true, .caller_helps = caller_helps});
    Client second(rig, ids_of(test::mixed_texts(50)), {.alone = true, .caller_helps = caller_helps});
    Client limited(rig, ids_of(test::mixed_texts(10)), {.limits = within(std::chrono::hours(1))});
    EXPECT_EQ(rig.runs->so_far().size(), 0U);
    second.expect_right();
    EXPECT_FALSE(first.submission.is_over());
    for (const auto& run : rig.runs->so_far())
      EXPECT_EQ(run.thread, std::this_thread::get_id());
    first.expect_right();
    EXPECT_TRUE(limited.submission.wait(within(std::chrono::hours(1))).ok());
  }
}

TEST(SchedulerBoundsTest, WithoutThreadsManyWhoWaitComputeForEachOther) {
  Rig rig({.requests = 2, .batch_tokens = 64, .threads = 0});
  std::vector<std::thread> threads;
  for (int t = 0; t < 6; ++t) {
    threads.emplace_back([&, t] {
      for (int round = 0; round < 50; ++round) {
        Client client(rig, texts_of(5 + t, 8, 1 + static_cast<std::size_t>(round) % 20), {.caller_helps = t % 2 == 0});
        client.expect_right();
      }
    });
  }
  for (std::thread& thread : threads)
    thread.join();
}

TEST(SchedulerBoundsTest, WhatIsDroppedWaitsForWhatHasBegun) {
  Hold hold;
  std::atomic<bool> ended = false;
  Rig rig({.batch_tokens = 64}, [&](std::size_t number) {
    if (number > 0) return Status();
    hold.stop();
    ended = true;
    return Status();
  });
  std::vector<float> out(500 * kToyDimension);
  auto client = std::make_unique<Client>(rig, ids_of(test::mixed_texts(500)), How{.out = out.data()});
  hold.entered.wait();
  std::thread opener([&] { hold.let_go.count_down(); });
  client.reset();
  EXPECT_TRUE(ended);
  opener.join();
}

TEST(SchedulerBoundsTest, WhatIsDroppedBeginsNothingMore) {
  HeldRig held({.batch_tokens = 64});
  for (const bool is_bounded : {false, true}) {
    Client dropped(held.rig, texts_of(5, 8, 100),
                   {.limits = is_bounded ? within(std::chrono::hours(1)) : core::RunOptions()});
    EXPECT_FALSE(dropped.submission.is_over());
  }
  held.add(99, 8);
  held.open();
  held.expect_all_right();
  ASSERT_EQ(held.runs().size(), 1U);
  EXPECT_THAT(held.runs()[0].marks, ElementsAre(99));
}

TEST(SchedulerBoundsTest, AnyMayBeDroppedAtAnyMoment) {
  for (std::size_t moment = 0; moment < 24; ++moment) {
    const auto reached = std::make_shared<test::Latch>(1);  // shared with runs that are given up
    Rig rig({.requests = 2, .batch_tokens = 64}, [reached, moment](std::size_t number) {
      if (number == moment) reached->count_down();
      return Status();
    });
    Clients clients;
    clients.push_back(std::make_unique<Client>(rig, ids_of(test::mixed_texts(100))));
    clients.push_back(std::make_unique<Client>(rig, ids_of(test::mixed_texts(60)), How{.caller_helps = true}));
    clients.push_back(
        std::make_unique<Client>(rig, ids_of(test::mixed_texts(60)), How{.limits = within(std::chrono::hours(1))}));
    clients.push_back(std::make_unique<Client>(rig, ids_of(test::mixed_texts(60)), How{.alone = true}));
    reached->wait();
    std::mt19937 random(static_cast<unsigned>(moment));
    std::shuffle(clients.begin(), clients.end(), random);
    clients.pop_back();
    clients.pop_back();
    Client next(rig, texts_of(99, 8, 9));
    next.expect_right();
    for (const auto& client : clients)
      client->expect_right();
  }
}

TEST(SchedulerBoundsTest, TheOnesThatAreMovedGoOn) {
  HeldRig held;
  held.add(10, 8);
  held.add(11, 90);
  Scheduler::Submission kept = std::move(held.clients[0]->submission);
  held.open();
  EXPECT_TRUE(kept.wait().ok());
  held.clients[0]->expect_vectors(kept.vectors());
  kept = std::move(held.clients[1]->submission);  // what it was is dropped
  EXPECT_TRUE(kept.wait().ok());
  held.clients[1]->expect_vectors(kept.vectors());
}

}  // namespace
}  // namespace latebind::embedding
