#include "embedding/work_team.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <thread>
#include <vector>

#include "tests/support/latch.h"

namespace latebind::embedding {
namespace {

class Counting final : public WorkTeam::Work {
 public:
  explicit Counting(std::size_t pieces) : counts(pieces) {}
  void run_piece(std::size_t piece) noexcept override { ++counts[piece]; }
  bool each_once() const {
    return std::all_of(counts.begin(), counts.end(), [](const auto& count) { return count == 1; });
  }
  std::vector<std::atomic<int>> counts;
};

// Its pieces wait for one another: done only when that many threads are in it at one time.
class Meeting final : public WorkTeam::Work {
 public:
  explicit Meeting(std::ptrdiff_t threads) : all_there(threads) {}
  void run_piece(std::size_t) noexcept override { all_there.arrive_and_wait(); }
  test::Latch all_there;
};

// Holds its first piece until the test lets go.
class Held final : public WorkTeam::Work {
 public:
  void run_piece(std::size_t piece) noexcept override {
    ++begun;
    if (piece == 0) {
      in_first.count_down();
      let_go.wait();
    }
    ++ended;
  }
  std::atomic<int> begun = 0;
  std::atomic<int> ended = 0;
  test::Latch in_first{1};
  test::Latch let_go{1};
};

TEST(WorkTeamTest, EachPieceIsDoneOnce) {
  WorkTeam team(3);
  for (const std::size_t pieces : {0U, 1U, 2U, 100U}) {
    Counting work(pieces);
    team.submit(work, pieces, 3);
    team.help(work);
    team.finish(work);
    EXPECT_TRUE(work.each_once()) << pieces;
    EXPECT_TRUE(team.is_done(work));
  }
}

TEST(WorkTeamTest, ThreadsAndTheCallerWorkSideBySide) {
  WorkTeam team(3);
  Meeting work(4);
  team.submit(work, 4, 3);
  team.help(work);
  team.finish(work);
}

TEST(WorkTeamTest, TheTeamWorksWhileTheCallerDoesNot) {
  WorkTeam team(2);
  Meeting work(2);
  team.submit(work, 2, 2);
  team.finish(work);
}

TEST(WorkTeamTest, WithoutThreadsWhoeverWaitsDoesTheWork) {
  WorkTeam team(0);
  Counting work(5);
  team.submit(work, 5, 0);
  team.finish(work);
  EXPECT_TRUE(work.each_once());
}

TEST(WorkTeamTest, AbandonedWorkBeginsNothingMore) {
  WorkTeam team(0);
  Counting work(5);
  team.submit(work, 5, 0);
  team.abandon(work);
  EXPECT_TRUE(std::all_of(work.counts.begin(), work.counts.end(), [](const auto& count) { return count == 0; }));
  EXPECT_TRUE(team.is_done(work));
}

TEST(WorkTeamTest, AbandoningWaitsForWhatHasBegun) {
  WorkTeam team(1);
  Held work;
  team.submit(work, 100, 1);
  work.in_first.wait();
  std::thread releaser([&] { work.let_go.count_down(); });
  team.abandon(work);
  EXPECT_EQ(work.ended, work.begun);
  releaser.join();
}

TEST(WorkTeamTest, ThreadsGoOnWithTheNextWorkWhenThePreviousHasNoPieceLeft) {
  WorkTeam team(2);
  Held first;
  Counting second(10);
  team.submit(first, 1, 2);
  first.in_first.wait();
  team.submit(second, 10, 2);
  team.finish(second);  // though the first is still held
  EXPECT_TRUE(second.each_once());
  EXPECT_FALSE(team.is_done(first));
  first.let_go.count_down();
  team.finish(first);
}

TEST(WorkTeamTest, WorksThatNeedOneThreadEachRunSideBySide) {
  WorkTeam team(2);
  Held first;
  Counting second(1);
  team.submit(first, 1, 1);
  first.in_first.wait();
  team.submit(second, 1, 1);
  team.finish(second);  // though the first is still held
  EXPECT_TRUE(second.each_once());
  first.let_go.count_down();
  team.finish(first);
}

TEST(WorkTeamTest, ManyCallersShareTheTeam) {
  WorkTeam team(2);
  std::vector<std::thread> callers;
  std::atomic<int> good = 0;
  for (int caller = 0; caller < 8; ++caller) {
    callers.emplace_back([&] {
      for (int round = 0; round < 50; ++round) {
        Counting work(7);
        team.submit(work, 7, 2);
        team.help(work);
        team.finish(work);
        good += work.each_once() ? 1 : 0;
      }
    });
  }
  for (std::thread& caller : callers)
    caller.join();
  EXPECT_EQ(good, 400);
}

}  // namespace
}  // namespace latebind::embedding
