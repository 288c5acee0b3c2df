#include "backends/native/team.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <optional>
#include <set>
#include <thread>
#include <vector>

#include "core/platform/thread_time.h"

namespace latebind::native {
namespace {

TEST(TeamTest, EachMemberIsCalledOnceOnAThreadOfItsOwn) {
  Team team(4);
  Team::Crew crew = team.take(4);
  ASSERT_EQ(crew.size(), 4U);
  for (int round = 0; round < 100; ++round) {
    std::vector<std::thread::id> threads(4);
    crew.run([&](std::size_t member) { threads[member] = std::this_thread::get_id(); });
    EXPECT_EQ(threads[0], std::this_thread::get_id());
    EXPECT_EQ(std::set(threads.begin(), threads.end()).size(), 4U);
  }
}

TEST(TeamTest, NoMoreThreadsAreInRunsThanTheTeamIsLarge) {
  Team team(3);
  std::optional<Team::Crew> first(team.take(3));
  EXPECT_EQ(first->size(), 3U);
  const Team::Crew second = team.take(3);
  EXPECT_EQ(second.size(), 1U);  // a caller's own thread is never refused
  first.reset();
  // One is in the second's run: two are left, its caller's among them.
  const Team::Crew third = team.take(3);
  EXPECT_EQ(third.size(), 2U);
  EXPECT_EQ(team.take(3).size(), 1U);
}

TEST(TeamTest, FewerAreTakenWhereFewerAreWanted) {
  Team team(4);
  EXPECT_EQ(team.take(2).size(), 2U);
  EXPECT_EQ(team.take(1).size(), 1U);
  EXPECT_EQ(Team(1).take(8).size(), 1U);
}

TEST(TeamTest, NobodyPassesABarrierBeforeAllHaveCome) {
  Team team(3);
  Team::Crew crew = team.take(3);
  Barrier barrier(crew.size());
  std::atomic<std::size_t> come{0};
  std::atomic<bool> early{false};
  crew.run([&](std::size_t member) {
    for (std::size_t round = 1; round <= 2000; ++round) {
      // Some come so late that the others are asleep.
      if (round % 500 == member) std::this_thread::sleep_for(2 * kPatience);
      ++come;
      barrier.wait();
      if (come < round * 3) early = true;
      barrier.wait();
    }
  });
  EXPECT_FALSE(early);
  EXPECT_EQ(come, 6000U);
}

// For kPatience, and what the system takes to put a thread to sleep and to wake it.
TEST(TeamTest, WhoWaitsLongSleeps) {
  constexpr std::chrono::milliseconds kLong{200};
  constexpr std::chrono::milliseconds kLittle{100};
  Team team(3);
  Team::Crew crew = team.take(3);
  ASSERT_EQ(crew.size(), 3U);
  std::vector<std::chrono::nanoseconds> before(3);
  std::vector<std::chrono::nanoseconds> taken(3);
  // Between two tasks.
  crew.run([&](std::size_t member) { before[member] = platform::thread_time(); });
  std::this_thread::sleep_for(kLong);
  crew.run([&](std::size_t member) { taken[member] = platform::thread_time() - before[member]; });
  EXPECT_LT(taken[1] + taken[2], kLittle);
  // For each other, and the calling thread for the others.
  Barrier barrier(3);
  const auto caller_before = platform::thread_time();
  crew.run([&](std::size_t member) {
    before[member] = platform::thread_time();
    if (member == 2) std::this_thread::sleep_for(kLong);
    barrier.wait();
    taken[member] = platform::thread_time() - before[member];
    if (member == 2) std::this_thread::sleep_for(kLong);
  });
  EXPECT_LT(taken[0] + taken[1] + taken[2], kLittle);
  EXPECT_LT(platform::thread_time() - caller_before, kLittle);
}

TEST(TeamTest, RunsSideBySideEachHaveACrew) {
  Team team(2);
  std::atomic<int> done{0};
  std::vector<std::thread> callers;
  for (int i = 0; i < 4; ++i) {
    callers.emplace_back([&] {
      for (int round = 0; round < 200; ++round) {
        Team::Crew crew = team.take(2);
        std::atomic<std::size_t> members{0};
        crew.run([&](std::size_t) { ++members; });
        if (members == crew.size()) ++done;
      }
    });
  }
  for (auto& caller : callers)
    caller.join();
  EXPECT_EQ(done, 800);
}

}  // namespace
}  // namespace latebind::native
