// Whose texts are computed next, and how long the others wait.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <map>
#include <random>
#include <set>
#include <thread>
#include <utility>
#include <vector>

#include "embedding/schedule/scheduler.h"
#include "tests/embedding/schedule/scheduler_rig.h"

namespace latebind::embedding {
namespace {

using core::Status;
using schedule_test::Client;
using schedule_test::Hold;
using schedule_test::How;
using schedule_test::Ids;
using schedule_test::Rig;
using schedule_test::Runs;
using schedule_test::text_of;
using schedule_test::texts_of;
using ::testing::ElementsAre;

TEST(SchedulerTurnsTest, ALoneTextWaitsForOneBatchOfManyTexts) {
  for (const std::size_t held : {0U, 100U}) {
    Hold hold;
    Rig rig({.batch_tokens = 64}, [&](std::size_t number) {
      if (number == held) hold.stop();
      return Status();
    });
    Client many(rig, texts_of(5, 8, 10'000), {.alone = held > 0});
    hold.entered.wait();
    Client lone(rig, texts_of(99, 5, 1));
    hold.let_go.count_down();
    lone.expect_right();
    const auto runs = rig.runs->so_far();
    EXPECT_THAT(runs.at(held).marks, ::testing::Each(5));
    EXPECT_THAT(runs.at(held + 1).marks, ElementsAre(99));
  }
}

TEST(SchedulerTurnsTest, ManyCallsOfOneTextDoNotHoldBackManyTexts) {
  // Whenever a lone text is computed, the next one waits already.
  constexpr std::size_t kBatches = 20;
  Hold hold;
  std::deque<Client> lone;
  std::size_t computed = 0;
  Rig* at = nullptr;
  const auto on_run = [&](std::size_t number) {
    if (number == 0) hold.stop();
    computed += static_cast<std::size_t>(std::ranges::count(at->runs->so_far().at(number).marks, 5));
    // Nothing is added any more when all the others are done: then they are looked at.
    if (computed < 8 * kBatches && lone.size() < 3000 && number > 0) lone.emplace_back(*at, texts_of(99, 4, 1));
    return Status();
  };
  Rig rig({.batch_tokens = 64, .threads = 1}, on_run);
  at = &rig;
  Client many(rig, texts_of(5, 8, 8 * kBatches));
  hold.entered.wait();
  Client first(rig, texts_of(99, 4, 1));
  hold.let_go.count_down();
  many.expect_right();
  // Both had about as many tokens.
  EXPECT_LT(lone.size(), 2 * kBatches * 64 / 4);
  EXPECT_GT(lone.size(), kBatches * 64 / 4 / 2);
  for (Client& client : lone)
    client.expect_right();
}

TEST(SchedulerTurnsTest, TwoWithManyTextsTakeTurns) {
  Hold hold;
  Rig rig({.batch_tokens = 64}, [&](std::size_t number) {
    if (number == 0) hold.stop();
    return Status();
  });
  Client first(rig, texts_of(5, 8, 8 * 20), {.alone = true});
  hold.entered.wait();
  Client second(rig, texts_of(6, 8, 8 * 20), {.alone = true});
  hold.let_go.count_down();
  first.expect_right();
  second.expect_right();
  std::ptrdiff_t ahead = 0;
  for (const auto& run : rig.runs->so_far()) {
    ahead += run.marks.front() == 5 ? 1 : -1;
    EXPECT_LE(std::abs(ahead), 2);
  }
}

TEST(SchedulerTurnsTest, RequestsOfOneSizeAreOverInTheOrderInWhichTheyCame) {
  // However many of them wait, and though each batch has room for texts of several.
  Hold hold;
  Rig rig({.batch_tokens = 256, .threads = 1}, [&](std::size_t number) {
    if (number == 0) hold.stop();
    return Status();
  });
  Client blocker(rig, texts_of(1, 8, 1), {.alone = true});
  hold.entered.wait();
  std::deque<Client> clients;
  for (std::int32_t i = 0; i < 20; ++i) {
    auto texts = texts_of(10 + i, 5, 4);
    for (const std::size_t length : {3U, 9U, 16U})
      for (Ids& ids : texts_of(10 + i, length, 4))
        texts.push_back(std::move(ids));
    clients.emplace_back(rig, texts);
  }
  hold.let_go.count_down();
  for (Client& client : clients)
    client.expect_right();
  std::map<std::int64_t, std::size_t> last_run;
  const auto runs = rig.runs->so_far();
  for (std::size_t number = 0; number < runs.size(); ++number)
    for (const std::int64_t mark : runs[number].marks)
      last_run[mark] = number;
  for (std::int32_t i = 0; i + 1 < 20; ++i)
    EXPECT_LE(last_run[10 + i], last_run[11 + i]) << i;
}

std::size_t shapes_of_many_texts(std::size_t kept_shapes) {
  Rig rig({.batch_tokens = 1024}, nullptr, {.kept_shapes = kept_shapes});
  std::mt19937 random(3);
  for (int i = 0; i < 60; ++i) {
    std::vector<Ids> texts;
    for (int k = 0; k < 12; ++k)
      texts.push_back(text_of(10 + k, 3 + random() % 20 + (random() % 4 == 0 ? random() % 90 : 0)));
    Client client(rig, std::move(texts));
    client.expect_right();
  }
  std::set<std::pair<std::size_t, std::size_t>> shapes;
  for (const Runs::Run& run : rig.runs->so_far())
    shapes.emplace(run.rows, run.width);
  return shapes.size();
}

TEST(SchedulerTurnsTest, FewShapesAreInUseWhereTheDeviceMakesEachReady) {
  const std::size_t any = shapes_of_many_texts(0);
  EXPECT_LT(shapes_of_many_texts(32), any * 2 / 3);
}

// A device that keeps few shapes is no reason to pad a text that is alone: it may come again.
TEST(SchedulerTurnsTest, ALoneTextIsComputedAtItsOwnLengthWhateverIsReady) {
  Rig rig({}, nullptr, {.kept_shapes = 8});
  for (const std::size_t length : {20U, 19U, 20U}) {
    Client client(rig, texts_of(7, length, 1));
    client.expect_right();
  }
  EXPECT_THAT(rig.runs->widths(), ElementsAre(20, 19, 20));
}

// Ten times what the device takes is offered, and admitted as soon as there is room in a bounded queue.
// How long the one that waits longest of many does, in lengths of the queue.
double longest_wait_under_overload(bool leaves_padding_out) {
  constexpr std::size_t kRequests = 300;
  constexpr std::size_t kTexts = 32;
  constexpr std::uint64_t kWaitingMax = 16'384;
  struct Admitted {
    std::vector<Ids> texts{};
    std::uint64_t tokens = 0;
    std::size_t left = kTexts;
    // Tokens that were computed when it was admitted, and when it was over.
    std::uint64_t before = 0;
    std::uint64_t after = 0;
  };
  std::mt19937 random(11);
  std::vector<Admitted> requests(kRequests);
  for (std::size_t i = 0; i < kRequests; ++i) {
    for (std::size_t k = 0; k < kTexts; ++k) {
      const std::size_t length = 6 + random() % 20 + (random() % 8 == 0 ? random() % 90 : 0);
      requests[i].texts.push_back(text_of(static_cast<std::int32_t>(100 + i), length));
      requests[i].tokens += length;
    }
  }
  std::deque<Client> clients;
  std::uint64_t computed = 0;
  Rig* at = nullptr;
  const auto admit = [&] {
    while (clients.size() < kRequests) {
      Admitted& next = requests[clients.size()];
      const std::uint64_t waiting = at->scheduler.queue_state().waiting_tokens;
      if (waiting + next.tokens > kWaitingMax) return;
      next.before = computed;
      clients.emplace_back(*at, next.texts);
    }
  };
  Hold hold;
  Rig rig({.threads = 1},
          [&](std::size_t number) {
            if (number == 0) hold.stop();
            const auto run = at->runs->so_far().at(number);
            computed += run.tokens;
            for (const std::int64_t mark : run.marks) {
              if (mark >= 100 && --requests[static_cast<std::size_t>(mark - 100)].left == 0) {
                requests[static_cast<std::size_t>(mark - 100)].after = computed;
              }
            }
            admit();
            return Status();
          },
          {.leaves_padding_out = leaves_padding_out});
  at = &rig;
  Client blocker(rig, texts_of(1, 8, 1), {.alone = true});
  hold.entered.wait();
  admit();
  hold.let_go.count_down();
  blocker.expect_right();
  while (rig.scheduler.queue_state().waiting_tokens > 0 || rig.scheduler.queue_state().running_batches > 0)
    std::this_thread::yield();
  double worst = 0;
  // Without those after whom nobody came.
  for (std::size_t i = 0; i < kRequests - 30; ++i) {
    EXPECT_GT(requests[i].after, requests[i].before) << i;
    worst = std::max(worst, static_cast<double>(requests[i].after - requests[i].before) / kWaitingMax);
  }
  return worst;
}

TEST(SchedulerTurnsTest, UnderOverloadNobodyWaitsMuchLongerThanTheQueueIsLong) {
  EXPECT_LT(longest_wait_under_overload(/*leaves_padding_out=*/false), 1.5);
}

// The batch in which its last text is may have others behind it.
TEST(SchedulerTurnsTest, WithoutPaddingNobodyWaitsLongerThanTheQueueIsLong) {
  EXPECT_LT(longest_wait_under_overload(/*leaves_padding_out=*/true), 1.02);
}

// The lengths are such that no batch is full.
TEST(SchedulerTurnsTest, ALoneTextWaitsForOneBatchOfEachWithManyTexts) {
  for (std::size_t held = 1; held < 24; ++held) {
    Hold hold;
    Hold start;
    Rig rig({.threads = 1},
            [&](std::size_t number) {
              if (number == 0) start.stop();
              if (number == held) hold.stop();
              return Status();
            },
            {.leaves_padding_out = true});
    Client first(rig, texts_of(5, 23, 400));
    start.entered.wait();
    Client second(rig, texts_of(6, 23, 400));
    start.let_go.count_down();
    hold.entered.wait();
    Client lone(rig, texts_of(99, 5, 1));
    hold.let_go.count_down();
    lone.expect_right();
    first.expect_right();
    second.expect_right();
    const auto runs = rig.runs->so_far();
    const auto found =
        std::ranges::find_if(runs, [](const Runs::Run& run) { return std::ranges::count(run.marks, 99) > 0; });
    EXPECT_LE(found - runs.begin(), static_cast<std::ptrdiff_t>(held + 3)) << held;
  }
}

TEST(SchedulerTurnsTest, BatchesOfOneOwnerBeginInTheOrderInWhichHeHandedThemOver) {
  Hold hold;
  Rig rig({.batch_tokens = 64}, [&](std::size_t number) {
    if (number == 0) hold.stop();
    return Status();
  });
  Scheduler::Owner owner;
  const auto submit = [&](std::int32_t mark, std::size_t length, std::size_t count) {
    TokenTable tokens;
    for (const Ids& ids : texts_of(mark, length, count))
      EXPECT_TRUE(tokens.add(ids, {512, 0}).ok());
    return *rig.scheduler.submit(owner, {.tokens = std::move(tokens), .alone = true});
  };
  const auto first = submit(5, 16, 12);
  hold.entered.wait();
  const auto second = submit(6, 4, 20);
  auto third = submit(7, 8, 1);
  hold.let_go.count_down();
  EXPECT_TRUE(third.wait().ok());
  std::vector<std::int64_t> marks;
  for (const auto& run : rig.runs->so_far())
    marks.push_back(run.marks.front());
  EXPECT_TRUE(std::ranges::is_sorted(marks));
}

}  // namespace
}  // namespace latebind::embedding
