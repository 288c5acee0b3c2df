// OutputLock: one writer of a place at a time, and nothing left of it.
#include "core/platform/files/output_lock.h"

#include <gtest/gtest.h>

#include <atomic>
#include <fstream>
#include <thread>
#include <vector>

#include "core/platform/files/new_file.h"
#include "core/platform/files/output_file.h"
#include "tests/platform/support.h"

namespace latebind::platform {
namespace {

using core::StatusCode;
using std::chrono::milliseconds;
using testing::ScratchFolder;

constexpr milliseconds kLong = std::chrono::seconds(30);

TEST(OutputLockTest, IsBesideThePlaceAndGoesWithTheObject) {
  const ScratchFolder folder;
  for (int i = 0; i < 2; ++i) {
    const auto lock = OutputLock::acquire(folder / "place", milliseconds(0));
    ASSERT_TRUE(lock.ok()) << lock.status().to_string();
    EXPECT_TRUE(lock->is_held());
    EXPECT_EQ(folder.names().size(), 1U);
  }
  EXPECT_EQ(folder.names(), std::vector<std::string>{});
}

TEST(OutputLockTest, IsRefusedToOthersAsLongAsItIsHeld) {
  const ScratchFolder folder;
  {
    const auto first = OutputLock::acquire(folder / "place", milliseconds(0));
    ASSERT_TRUE(first.ok());
    EXPECT_EQ(OutputLock::acquire(folder / "place", milliseconds(10)).status().code(), StatusCode::kBusy);
    const auto other = OutputLock::acquire(folder / "another", milliseconds(0));
    EXPECT_TRUE(other.ok() && other->is_held());
  }
  const auto second = OutputLock::acquire(folder / "place", milliseconds(0));
  EXPECT_TRUE(second.ok() && second->is_held());
}

TEST(OutputLockTest, LetsOneThreadInAtATimeWhoeverRemovesIt) {
  const ScratchFolder folder;
  std::atomic<int> inside{0};
  std::atomic<int> most{0};
  std::atomic<int> turns{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      for (int turn = 0; turn < 20; ++turn) {
        const auto lock = OutputLock::acquire(folder / "place", kLong);
        if (!lock.ok() || !lock->is_held()) continue;
        const int now = ++inside;
        if (now > most) most = now;
        ++turns;
        --inside;
      }
    });
  }
  for (std::thread& thread : threads)
    thread.join();
  EXPECT_EQ(most, 1);
  EXPECT_EQ(turns, 80);
  EXPECT_EQ(folder.names(), std::vector<std::string>{});
}

TEST(OutputLockTest, NoneIsHeldWhereNoneCanBeHad) {
  const ScratchFolder folder;
  const auto missing = OutputLock::acquire(folder / "none" / "place", milliseconds(0));
  EXPECT_TRUE(missing.ok() && !missing->is_held());
  const auto nowhere = OutputLock::acquire("", milliseconds(0));
  EXPECT_TRUE(nowhere.ok() && !nowhere->is_held());
}

TEST(NewFileTest, GetsItsNameAndReplacesNothing) {
  const ScratchFolder folder;
  std::ofstream(folder / "finished") << "new";
  const auto placed = place_new_file(folder / "finished", folder / "place");
  ASSERT_TRUE(placed.ok()) << placed.status().to_string();
  EXPECT_TRUE(*placed);
  EXPECT_EQ(folder.names(), std::vector<std::string>{"place"});
  std::ofstream(folder / "finished") << "newer";
  const auto refused = place_new_file(folder / "finished", folder / "place");
  ASSERT_TRUE(refused.ok()) << refused.status().to_string();
  EXPECT_FALSE(*refused);
  EXPECT_EQ(std::filesystem::file_size(folder / "place"), 3U);
  EXPECT_EQ(place_new_file(folder / "none", folder / "other").status().code(), StatusCode::kNotFound);
}

}  // namespace
}  // namespace latebind::platform
