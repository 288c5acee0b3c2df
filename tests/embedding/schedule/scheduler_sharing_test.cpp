// Which texts share a batch, and what that means for each of them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <random>
#include <thread>
#include <utility>
#include <vector>

#include "embedding/schedule/scheduler.h"
#include "tests/embedding/schedule/scheduler_rig.h"

namespace latebind::embedding {
namespace {

using core::Status;
using core::StatusCode;
using schedule_test::Client;
using schedule_test::HeldRig;
using schedule_test::Hold;
using schedule_test::How;
using schedule_test::Ids;
using schedule_test::kNoNumber;
using schedule_test::Rig;
using schedule_test::Runs;
using schedule_test::text_of;
using schedule_test::texts_of;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::UnorderedElementsAre;

TEST(SchedulerSharingTest, TextsOfManyOwnersShareABatchAndEachGetsHisOwnVector) {
  HeldRig held;
  for (int i = 0; i < 8; ++i)
    held.add(10 + i, i % 2 == 0 ? 12 : 13, {.caller_helps = i % 3 == 0});
  held.open();
  held.expect_all_right();
  ASSERT_EQ(held.runs().size(), 1U);
  EXPECT_EQ(held.runs()[0].rows, 8U);
  EXPECT_EQ(held.runs()[0].width, 13U);
  EXPECT_THAT(held.runs()[0].marks, UnorderedElementsAre(10, 11, 12, 13, 14, 15, 16, 17));
  for (const auto& client : held.clients) {
    EXPECT_EQ(client->submission.stats().texts, 1U);
    EXPECT_EQ(client->submission.stats().padded_tokens, 13U);
    EXPECT_EQ(client->submission.answered_by()->active.device, "CPU");
  }
}

TEST(SchedulerSharingTest, SharedBatchesHaveNumbersOfRowsThatAreAllowed) {
  for (const auto& [batch_tokens, rows] : {std::pair<std::size_t, std::vector<std::size_t>>{2048, {16, 4}},
                                           {110, {11, 8, 1}},
                                           {30, {3, 3, 3, 3, 3, 3, 2}}}) {
    HeldRig held({.batch_tokens = batch_tokens});
    for (int i = 0; i < 20; ++i)
      held.add(10 + i, 10);
    held.open();
    held.expect_all_right();
    EXPECT_EQ(held.rows(), rows) << batch_tokens;
  }
}

TEST(SchedulerSharingTest, TextsOfVeryDifferentLengthsAreNotPaddedToEachOther) {
  HeldRig held;
  for (int i = 0; i < 6; ++i)
    held.add(10 + i, i % 2 == 0 ? 4 : 40);
  held.open();
  held.expect_all_right();
  ASSERT_EQ(held.runs().size(), 2U);
  EXPECT_THAT(held.runs()[0].marks, UnorderedElementsAre(10, 12, 14));
  EXPECT_THAT(held.runs()[1].marks, UnorderedElementsAre(11, 13, 15));
}

TEST(SchedulerSharingTest, ATextThatSharesWithNobodyIsNotPadded) {
  HeldRig held;
  held.add(10, 37);
  held.add(11, 201);
  held.open();
  held.expect_all_right();
  EXPECT_EQ(held.rig.runs->widths(), (std::vector<std::size_t>{3, 37, 201}));
  EXPECT_EQ(held.clients[0]->submission.stats().padded_tokens, 37U);
}

TEST(SchedulerSharingTest, SharedBatchesKeepTheirBoundsWhateverTheLengths) {
  constexpr std::size_t kBatchTokens = 400;
  constexpr std::size_t kLongest = 120;
  std::mt19937 random(3);
  HeldRig held({.batch_tokens = kBatchTokens, .longest = kLongest});
  for (int i = 0; i < 300; ++i)
    held.add(100 + i, 3 + random() % (kLongest - 2));
  held.open();
  held.expect_all_right();
  const BatchShape shape{.tokens = kBatchTokens, .longest = kLongest};
  std::size_t shared = 0;
  for (const auto& run : held.runs()) {
    EXPECT_LE(run.width, kLongest);
    EXPECT_TRUE(shape.allows(run.rows, run.width)) << run.rows << " x " << run.width;
    if (run.rows == 1) continue;
    EXPECT_LE(run.rows * run.width, kBatchTokens);
    EXPECT_EQ(run.width, shape.width(run.width)) << "a width of its own";
    // Each adds at most what it costs alone and what a run costs beside its tokens.
    EXPECT_LE(run.rows * run.width, run.tokens + 16 * run.rows);
    shared += run.rows;
  }
  EXPECT_GT(shared, 200U) << "the bounds leave room for sharing";
}

TEST(SchedulerSharingTest, WhatABatchOfSeveralTextsLeavesFreeIsFilledWithThoseOfOthers) {
  HeldRig held({.batch_tokens = 64});
  Client several(held.rig, texts_of(5, 8, 3));
  Client more(held.rig, texts_of(6, 8, 2));
  for (int i = 0; i < 5; ++i)
    held.add(10 + i, 8);
  held.open();
  several.expect_right();
  more.expect_right();
  held.expect_all_right();
  EXPECT_THAT(held.rows(), UnorderedElementsAre(8, 2));
}

TEST(SchedulerSharingTest, WithoutPaddingABatchIsFilledInTheOrderInWhichTheyCame) {
  HeldRig held({}, nullptr, {.leaves_padding_out = true});
  Client several(held.rig, {text_of(5, 3), text_of(5, 50), text_of(5, 30)});
  for (int i = 0; i < 3; ++i)
    held.add(10 + i, 90 + 15 * static_cast<std::size_t>(i));
  held.open();
  several.expect_right();
  held.expect_all_right();
  ASSERT_EQ(held.runs().size(), 2U);
  // All of the first, whatever their lengths, and the next ones that there is room for.
  EXPECT_THAT(held.runs()[0].marks, ElementsAre(5, 5, 5, 10));
  EXPECT_THAT(held.runs()[1].marks, ElementsAre(11, 12));
}

TEST(SchedulerSharingTest, WithoutPaddingTensorsStaySmallThoughLengthsDiffer) {
  HeldRig held({}, nullptr, {.leaves_padding_out = true});
  for (int i = 0; i < 60; ++i)
    held.add(10 + i, i == 0 ? 200 : 3);
  held.open();
  held.expect_all_right();
  for (const Runs::Run& run : held.runs())
    EXPECT_LE(run.rows * run.width, 2048U);
}

TEST(SchedulerSharingTest, WhoWantsToBeAloneSharesWithNobody) {
  HeldRig held;
  for (int i = 0; i < 6; ++i)
    held.add(10 + i, 8, {.alone = i % 2 == 0});
  held.open();
  held.expect_all_right();
  EXPECT_THAT(held.rows(), UnorderedElementsAre(1, 1, 1, 3));
  for (const auto& run : held.runs()) {
    for (const std::int64_t mark : run.marks)
      EXPECT_EQ(run.rows == 1, mark % 2 == 0) << mark;
  }
}

TEST(SchedulerSharingTest, WhoIsAloneGetsTheSameBatchesWhateverOthersDo) {
  std::mt19937 random(9);
  std::vector<Ids> texts;
  for (int i = 0; i < 300; ++i)
    texts.push_back(text_of(2000 + i, 3 + random() % 40));
  const auto batches_among = [&](int others) {
    HeldRig held({.batch_tokens = 128});
    Client alone(held.rig, texts, {.alone = true});
    for (int i = 0; i < others; ++i)
      held.add(10 + i, 3 + static_cast<std::size_t>(i) % 40);
    held.open();
    alone.expect_right();
    held.expect_all_right();
    auto batches = held.runs();
    std::erase_if(batches, [](const Runs::Run& run) { return run.marks.front() < 2000; });
    return batches;
  };
  const auto batches = batches_among(0);
  EXPECT_GT(batches.size(), 10U);
  EXPECT_EQ(batches_among(50), batches);
}

TEST(SchedulerSharingTest, StaticShapesAreSharedByTextsOfTheSameLengthOnly) {
  HeldRig held({}, nullptr, {.static_lengths = {8, 16}, .static_rows = 4});
  for (const std::size_t length : {5U, 12U, 7U, 16U, 8U})
    held.add(static_cast<std::int32_t>(length), length);
  held.open();
  held.expect_all_right();
  ASSERT_EQ(held.runs().size(), 2U);
  EXPECT_EQ(held.runs()[0].width, 8U);
  EXPECT_THAT(held.runs()[0].marks, UnorderedElementsAre(5, 7, 8));
  EXPECT_EQ(held.runs()[1].width, 16U);
  EXPECT_THAT(held.runs()[1].marks, UnorderedElementsAre(12, 16));
  // A shape is computed whole, however few rows of it are used.
  std::uint64_t padded = 0;
  for (const auto& client : held.clients)
    padded += client->submission.stats().padded_tokens;
  EXPECT_EQ(padded, 4U * 8 + 4 * 16);
}

TEST(SchedulerSharingTest, AStaticShapeHasNoMoreRowsThanItHas) {
  HeldRig held({}, nullptr, {.static_lengths = {8}, .static_rows = 4});
  for (int i = 0; i < 6; ++i)
    held.add(10 + i, 8);
  held.open();
  held.expect_all_right();
  EXPECT_EQ(held.rows(), (std::vector<std::size_t>{4, 2}));
}

TEST(SchedulerSharingTest, AVectorOfOneThatIsNotFiniteIsNoErrorOfAnother) {
  HeldRig held;
  held.add(10, 8);
  held.add(kNoNumber, 8, {.first_position = 7});
  held.add(12, 8);
  held.open();
  const Status status = held.clients[1]->submission.wait();
  EXPECT_EQ(status.code(), StatusCode::kInternal);
  EXPECT_THAT(status.to_string(), HasSubstr("texts[7]"));
  held.clients[0]->expect_right();
  held.clients[2]->expect_right();
  EXPECT_EQ(held.rows(), (std::vector<std::size_t>{3}));
}

TEST(SchedulerSharingTest, AFailedRunIsTheErrorOfAllWhoShareItAndOfNobodyElse) {
  HeldRig held(
      {}, [](std::size_t number) { return number == 1 ? Status(StatusCode::kUnsupported, "not this one") : Status(); });
  held.add(10, 8, {.first_position = 3});
  held.add(11, 8, {.first_position = 5});
  held.add(12, 90);
  held.open();
  const Status first = held.clients[0]->submission.wait();
  const Status second = held.clients[1]->submission.wait();
  EXPECT_EQ(first.code(), StatusCode::kUnsupported);
  EXPECT_THAT(first.to_string(), HasSubstr("texts[3], in a batch of 2 texts of up to 8 tokens: not this one"));
  EXPECT_THAT(second.to_string(), HasSubstr("texts[5], in a batch of 2 texts of up to 8 tokens: not this one"));
  held.clients[2]->expect_right();
}

TEST(SchedulerSharingTest, ALongTextIsNotPassedByShortOnesThatComeLater) {
  // With each short one that is computed another one comes.
  Rig* at = nullptr;
  std::deque<Client> more;
  const auto on_run = [&](std::size_t number) {
    if (at != nullptr && number > 0 && more.size() < 300)
      more.emplace_back(*at, texts_of(99, 4, 1), How{.alone = true});
    return Status();
  };
  HeldRig held({.threads = 1}, on_run);
  at = &held.rig;
  for (int i = 0; i < 3; ++i)
    held.add(10 + i, 4 * (1 + static_cast<std::size_t>(i)), {.alone = true});
  held.add(20, 100);
  held.open();
  held.expect_all_right();
  std::vector<std::int64_t> marks;
  for (const auto& run : held.runs())
    marks.push_back(run.marks.front());
  // It came at the same time as the three before it, and its turn begins with theirs.
  EXPECT_LE(std::ranges::find(marks, 20) - marks.begin(), 4);
  while (held.rig.runs->so_far().size() < 305)
    std::this_thread::yield();
  for (Client& client : more)
    client.expect_right();
}

TEST(SchedulerSharingTest, TextsOfSeveralOwnersAreComputedWithThoseOfTheirLength) {
  Hold hold;
  Rig rig({.requests = 1}, [&](std::size_t number) {
    if (number == 0) hold.stop();
    return Status();
  });
  Client first(rig, texts_of(5, 4, 1));
  hold.entered.wait();
  // Each has long and short texts: they meet by length, not by owner.
  const auto both = [](std::int32_t mark) {
    std::vector<Ids> texts{text_of(mark, 208), text_of(mark, 10), text_of(mark, 10)};
    return texts;
  };
  Client a(rig, both(6));
  Client b(rig, both(7));
  hold.let_go.count_down();
  a.expect_right();
  b.expect_right();
  EXPECT_THAT(rig.runs->rows(), ElementsAre(1, 2, 4));
  EXPECT_THAT(rig.runs->widths(), ElementsAre(4, 208, 10));
}

}  // namespace
}  // namespace latebind::embedding
