#include "embedding/schedule/work_team.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <future>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

#include "core/platform/thread_nice.h"
#include "tests/support/latch.h"

namespace latebind::embedding {
namespace {

// How often each piece was done.
class Counts {
 public:
  explicit Counts(std::size_t pieces) : counts_(pieces) {}
  void operator()(std::size_t piece) { ++counts_[piece]; }
  bool each_once() const {
    return std::all_of(counts_.begin(), counts_.end(), [](const auto& count) { return count == 1; });
  }

 private:
  std::vector<std::atomic<int>> counts_;
};

TEST(WorkTeamTest, EachPieceIsDoneOnce) {
  WorkTeam team(3);
  for (const std::size_t pieces : {0U, 1U, 2U, 100U}) {
    Counts counts(pieces);
    team.share(pieces, 3, std::ref(counts));
    EXPECT_TRUE(counts.each_once()) << pieces;
  }
}

TEST(WorkTeamTest, ThreadsAndTheCallerWorkSideBySide) {
  // Pieces wait for one another: done only when that many threads are at it at one time.
  WorkTeam team(3);
  for (int round = 0; round < 20; ++round) {
    test::Latch all_there(4);
    team.share(4, 3, [&](std::size_t) { all_there.arrive_and_wait(); });
  }
}

TEST(WorkTeamTest, ThreadsMakeWayAsMuchAsTheOneThatMadeTheTeam) {
  std::optional<WorkTeam> team;
  int of_maker = 0;
  std::thread([&] {
    platform::make_way(platform::thread_nice() + 4);
    of_maker = platform::thread_nice();
    team.emplace(2);
  }).join();
  // They start now, for this thread, which makes no way.
  std::promise<int> found;
  ASSERT_TRUE(team->has_thread());
  team->post([&] { found.set_value(platform::thread_nice()); });
  EXPECT_EQ(found.get_future().get(), of_maker);
}

TEST(WorkTeamTest, NoMoreThreadsHelpThanAreWanted) {
  WorkTeam team(3);
  std::atomic<int> inside = 0;
  std::atomic<int> most = 0;
  team.share(200, 1, [&](std::size_t) {
    const int now = ++inside;
    int seen = most;
    while (seen < now && !most.compare_exchange_weak(seen, now)) {
    }
    --inside;
  });
  EXPECT_LE(most, 2);
}

TEST(WorkTeamTest, WithoutThreadsTheCallerDoesTheWork) {
  WorkTeam team(0);
  EXPECT_FALSE(team.has_thread());
  Counts counts(5);
  const auto caller = std::this_thread::get_id();
  team.share(5, 4, [&](std::size_t piece) {
    EXPECT_EQ(std::this_thread::get_id(), caller);
    counts(piece);
  });
  EXPECT_TRUE(counts.each_once());
}

TEST(WorkTeamTest, TasksRunSideBySideOnThreadsOfTheTeam) {
  test::Latch all_there(4);  // there until the last task has left it
  WorkTeam team(3);
  ASSERT_TRUE(team.has_thread());
  for (int task = 0; task < 3; ++task)
    team.post([&] { all_there.arrive_and_wait(); });
  all_there.arrive_and_wait();
}

TEST(WorkTeamTest, ATaskThatIsHeldDoesNotHoldTheNext) {
  test::Latch let_go(1);
  WorkTeam team(2);
  ASSERT_TRUE(team.has_thread());
  team.post([&] { let_go.wait(); });
  for (int round = 0; round < 100; ++round) {
    test::Latch done(1);
    team.post([&] { done.count_down(); });
    done.wait();
  }
  let_go.count_down();
}

TEST(WorkTeamTest, TasksBeginInTheOrderInWhichTheyCame) {
  std::vector<int> order;
  test::Latch all_posted(1);
  test::Latch all_done(1);
  WorkTeam team(1);
  ASSERT_TRUE(team.has_thread());
  team.post([&] { all_posted.wait(); });
  for (int task = 0; task < 50; ++task)
    team.post([&, task] { order.push_back(task); });
  team.post([&] { all_done.count_down(); });
  all_posted.count_down();
  all_done.wait();
  ASSERT_EQ(order.size(), 50U);
  EXPECT_TRUE(std::is_sorted(order.begin(), order.end()));
}

TEST(WorkTeamTest, WhoHelpsLeavesForATaskThatWaits) {
  const auto caller = std::this_thread::get_id();
  test::Latch task_ran(1);
  std::atomic<bool> has_posted = false;
  std::atomic<bool> has_run = false;
  WorkTeam team(1);
  team.share(3, 1, [&](std::size_t) {
    if (std::this_thread::get_id() == caller) {
      task_ran.wait();  // does not leave the other pieces to nobody
    } else if (!has_posted.exchange(true)) {
      team.post([&] {
        has_run = true;
        task_ran.count_down();
      });
    } else {
      EXPECT_TRUE(has_run) << "went on helping";
    }
  });
  EXPECT_TRUE(has_run);
}

TEST(WorkTeamTest, ATaskComesBeforeHelpThatWasAskedForEarlier) {
  test::Latch let_go(1);
  test::Latch held(1);
  test::Latch task_ran(1);
  std::atomic<bool> has_run = false;
  std::atomic<int> helped_before = 0;
  WorkTeam team(1);
  ASSERT_TRUE(team.has_thread());
  team.post([&] {
    held.count_down();
    let_go.wait();
  });
  held.wait();
  const auto caller = std::this_thread::get_id();
  // Asks for help while the only thread is held, and posts a task then.
  team.share(2, 1, [&](std::size_t piece) {
    if (std::this_thread::get_id() != caller) {
      helped_before += has_run ? 0 : 1;
    } else if (piece == 0) {
      team.post([&] {
        has_run = true;
        task_ran.count_down();
      });
      let_go.count_down();
      task_ran.wait();
    }
  });
  EXPECT_EQ(helped_before, 0);
}

TEST(WorkTeamTest, ItEndsOnceTheTasksThatHaveBegunHave) {
  test::Latch begun(1);
  test::Latch let_go(1);
  std::atomic<bool> ended = false;
  auto team = std::make_unique<WorkTeam>(1);
  ASSERT_TRUE(team->has_thread());
  team->post([&] {
    begun.count_down();
    let_go.wait();
    ended = true;
  });
  begun.wait();
  std::thread opener([&] { let_go.count_down(); });
  team.reset();
  EXPECT_TRUE(ended);
  opener.join();
}

TEST(WorkTeamTest, ManyCallersShareTheTeam) {
  std::vector<std::thread> callers;
  std::atomic<int> good = 0;
  std::atomic<int> tasks = 0;
  test::Latch all_tasks(400);
  WorkTeam team(2);
  ASSERT_TRUE(team.has_thread());
  for (int caller = 0; caller < 8; ++caller) {
    callers.emplace_back([&] {
      for (int round = 0; round < 50; ++round) {
        Counts counts(7);
        team.share(7, 2, std::ref(counts));
        good += counts.each_once() ? 1 : 0;
        team.post([&] {
          ++tasks;
          all_tasks.count_down();
        });
      }
    });
  }
  for (std::thread& caller : callers)
    caller.join();
  all_tasks.wait();
  EXPECT_EQ(good, 400);
  EXPECT_EQ(tasks, 400);
}

}  // namespace
}  // namespace latebind::embedding
