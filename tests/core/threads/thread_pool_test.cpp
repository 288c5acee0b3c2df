#include "core/threads/thread_pool.h"

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

namespace latebind::core {
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

TEST(ThreadPoolTest, EachPieceIsDoneOnce) {
  ThreadPool pool(3);
  for (const std::size_t pieces : {0U, 1U, 2U, 100U}) {
    Counts counts(pieces);
    pool.share(pieces, 3, std::ref(counts));
    EXPECT_TRUE(counts.each_once()) << pieces;
  }
}

TEST(ThreadPoolTest, ThreadsAndTheCallerWorkSideBySide) {
  // Pieces wait for one another: done only when that many threads are at it at one time.
  ThreadPool pool(3);
  for (int round = 0; round < 20; ++round) {
    test::Latch all_there(4);
    pool.share(4, 3, [&](std::size_t) { all_there.arrive_and_wait(); });
  }
}

TEST(ThreadPoolTest, ThreadsMakeWayAsMuchAsTheOneThatMadeThePool) {
  std::optional<ThreadPool> pool;
  int of_maker = 0;
  std::thread([&] {
    platform::make_way(platform::thread_nice() + 4);
    of_maker = platform::thread_nice();
    pool.emplace(2);
  }).join();
  // They start now, for this thread, which makes no way.
  std::promise<int> found;
  ASSERT_TRUE(pool->has_thread());
  pool->post([&] { found.set_value(platform::thread_nice()); });
  EXPECT_EQ(found.get_future().get(), of_maker);
}

TEST(ThreadPoolTest, NoMoreThreadsHelpThanAreWanted) {
  ThreadPool pool(3);
  std::atomic<int> inside = 0;
  std::atomic<int> most = 0;
  pool.share(200, 1, [&](std::size_t) {
    const int now = ++inside;
    int seen = most;
    while (seen < now && !most.compare_exchange_weak(seen, now)) {
    }
    --inside;
  });
  EXPECT_LE(most, 2);
}

TEST(ThreadPoolTest, WithoutThreadsTheCallerDoesTheWork) {
  ThreadPool pool(0);
  EXPECT_FALSE(pool.has_thread());
  Counts counts(5);
  const auto caller = std::this_thread::get_id();
  pool.share(5, 4, [&](std::size_t piece) {
    EXPECT_EQ(std::this_thread::get_id(), caller);
    counts(piece);
  });
  EXPECT_TRUE(counts.each_once());
}

TEST(ThreadPoolTest, TasksRunSideBySideOnThreadsOfThePool) {
  test::Latch all_there(4);  // there until the last task has left it
  ThreadPool pool(3);
  ASSERT_TRUE(pool.has_thread());
  for (int task = 0; task < 3; ++task)
    pool.post([&] { all_there.arrive_and_wait(); });
  all_there.arrive_and_wait();
}

TEST(ThreadPoolTest, ATaskThatIsHeldDoesNotHoldTheNext) {
  test::Latch let_go(1);
  ThreadPool pool(2);
  ASSERT_TRUE(pool.has_thread());
  pool.post([&] { let_go.wait(); });
  for (int round = 0; round < 100; ++round) {
    test::Latch done(1);
    pool.post([&] { done.count_down(); });
    done.wait();
  }
  let_go.count_down();
}

TEST(ThreadPoolTest, TasksBeginInTheOrderInWhichTheyCame) {
  std::vector<int> order;
  test::Latch all_posted(1);
  test::Latch all_done(1);
  ThreadPool pool(1);
  ASSERT_TRUE(pool.has_thread());
  pool.post([&] { all_posted.wait(); });
  for (int task = 0; task < 50; ++task)
    pool.post([&, task] { order.push_back(task); });
  pool.post([&] { all_done.count_down(); });
  all_posted.count_down();
  all_done.wait();
  ASSERT_EQ(order.size(), 50U);
  EXPECT_TRUE(std::is_sorted(order.begin(), order.end()));
}

TEST(ThreadPoolTest, WhoHelpsLeavesForATaskThatWaits) {
  const auto caller = std::this_thread::get_id();
  test::Latch task_ran(1);
  std::atomic<bool> has_posted = false;
  std::atomic<bool> has_run = false;
  ThreadPool pool(1);
  pool.share(3, 1, [&](std::size_t) {
    if (std::this_thread::get_id() == caller) {
      task_ran.wait();  // does not leave the other pieces to nobody
    } else if (!has_posted.exchange(true)) {
      pool.post([&] {
        has_run = true;
        task_ran.count_down();
      });
    } else {
      EXPECT_TRUE(has_run) << "went on helping";
    }
  });
  EXPECT_TRUE(has_run);
}

TEST(ThreadPoolTest, ATaskComesBeforeHelpThatWasAskedForEarlier) {
  test::Latch let_go(1);
  test::Latch held(1);
  test::Latch task_ran(1);
  std::atomic<bool> has_run = false;
  std::atomic<int> helped_before = 0;
  ThreadPool pool(1);
  ASSERT_TRUE(pool.has_thread());
  pool.post([&] {
    held.count_down();
    let_go.wait();
  });
  held.wait();
  const auto caller = std::this_thread::get_id();
  // Asks for help while the only thread is held, and posts a task then.
  pool.share(2, 1, [&](std::size_t piece) {
    if (std::this_thread::get_id() != caller) {
      helped_before += has_run ? 0 : 1;
    } else if (piece == 0) {
      pool.post([&] {
        has_run = true;
        task_ran.count_down();
      });
      let_go.count_down();
      task_ran.wait();
    }
  });
  EXPECT_EQ(helped_before, 0);
}

TEST(ThreadPoolTest, ItEndsOnceTheTasksThatHaveBegunHave) {
  test::Latch begun(1);
  test::Latch let_go(1);
  std::atomic<bool> ended = false;
  auto pool = std::make_unique<ThreadPool>(1);
  ASSERT_TRUE(pool->has_thread());
  pool->post([&] {
    begun.count_down();
    let_go.wait();
    ended = true;
  });
  begun.wait();
  std::thread opener([&] { let_go.count_down(); });
  pool.reset();
  EXPECT_TRUE(ended);
  opener.join();
}

TEST(ThreadPoolTest, ManyCallersShareThePool) {
  std::vector<std::thread> callers;
  std::atomic<int> good = 0;
  std::atomic<int> tasks = 0;
  test::Latch all_tasks(400);
  ThreadPool pool(2);
  ASSERT_TRUE(pool.has_thread());
  for (int caller = 0; caller < 8; ++caller) {
    callers.emplace_back([&] {
      for (int round = 0; round < 50; ++round) {
        Counts counts(7);
        pool.share(7, 2, std::ref(counts));
        good += counts.each_once() ? 1 : 0;
        pool.post([&] {
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

TEST(ThreadPoolTest, NoMoreTasksRunAtOnceThanThereMayBeThreads) {
  std::atomic<int> running{0};
  std::atomic<int> most{0};
  test::Latch over(200);
  ThreadPool pool(3);
  ASSERT_TRUE(pool.has_thread());
  for (int i = 0; i < 200; ++i) {
    pool.post([&] {
      const int now = ++running;
      int known = most.load();
      while (known < now && !most.compare_exchange_weak(known, now)) {
      }
      std::this_thread::yield();
      --running;
      over.count_down();
    });
  }
  over.wait();
  EXPECT_LE(most.load(), 3);
}

TEST(ThreadPoolTest, TheLimitCanBeRaisedAndNotLowered) {
  ThreadPool pool(0);
  EXPECT_FALSE(pool.has_thread());
  pool.allow(2);
  pool.allow(1);
  ASSERT_TRUE(pool.has_thread());
  test::Latch both(2);
  test::Latch over(2);
  for (int i = 0; i < 2; ++i) {
    pool.post([&] {
      both.arrive_and_wait();
      over.count_down();
    });
  }
  over.wait();
}

TEST(ThreadPoolTest, ItsEndWaitsForWhatHasBegunAndDestroysAllTasks) {
  const auto counted = std::make_shared<int>(0);
  for (int round = 0; round < 20; ++round) {
    std::atomic<bool> is_over{false};
    {
      test::Latch begun(1);
      ThreadPool pool(1);
      ASSERT_TRUE(pool.has_thread());
      pool.post([&, counted] {
        begun.count_down();
        std::this_thread::yield();
        is_over = true;
      });
      for (int i = 0; i < 3; ++i)
        pool.post([counted] {});
      begun.wait();
    }
    EXPECT_TRUE(is_over.load());
    EXPECT_EQ(counted.use_count(), 1);
  }
}

}  // namespace
}  // namespace latebind::core
