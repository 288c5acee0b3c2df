// FileLock and FolderLock: one holder at a time, threads and processes alike.
#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

#include "core/platform/files/file_lock.h"
#include "core/platform/files/folder_lock.h"
#include "tests/platform/held_by_child.h"
#include "tests/platform/support.h"

namespace latebind::platform {
namespace {

using core::StatusCode;
using std::chrono::milliseconds;
using testing::ScratchFolder;

constexpr milliseconds kLong = std::chrono::seconds(30);

TEST(FileLockTest, IsGivenBackWithTheObject) {
  const ScratchFolder folder;
  for (int i = 0; i < 3; ++i) {
    const auto lock = FileLock::acquire(folder / "lock", milliseconds(0));
    ASSERT_TRUE(lock.ok()) << lock.status().to_string();
  }
  EXPECT_EQ(folder.names(), std::vector<std::string>{"lock"});
}

TEST(FileLockTest, FollowsNoLink) {
  const ScratchFolder folder;
  std::filesystem::create_symlink(folder / "elsewhere", folder / "lock");
  EXPECT_EQ(FileLock::acquire(folder / "lock", milliseconds(0)).status().code(), StatusCode::kPermissionDenied);
  EXPECT_FALSE(std::filesystem::exists(folder / "elsewhere"));
}

TEST(FileLockTest, IsRefusedWhileAnotherObjectHoldsIt) {
  const ScratchFolder folder;
  const auto first = FileLock::acquire(folder / "lock", milliseconds(0));
  ASSERT_TRUE(first.ok());
  int waits = 0;
  const auto second = FileLock::acquire(folder / "lock", milliseconds(30), [&] { ++waits; });
  EXPECT_EQ(second.status().code(), StatusCode::kBusy);
  EXPECT_EQ(waits, 1);
}

TEST(FileLockTest, WaitsForWhoeverHoldsIt) {
  const ScratchFolder folder;
  auto first = FileLock::acquire(folder / "lock", milliseconds(0));
  ASSERT_TRUE(first.ok());
  // Given back when the second has begun to wait.
  const auto second = FileLock::acquire(folder / "lock", kLong, [&] { const FileLock gone = std::move(*first); });
  EXPECT_TRUE(second.ok()) << second.status().to_string();
}

TEST(FileLockTest, LetsOneThreadInAtATime) {
  const ScratchFolder folder;
  std::atomic<int> inside{0};
  std::atomic<int> most{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      for (int turn = 0; turn < 20; ++turn) {
        const auto lock = FileLock::acquire(folder / "lock", kLong);
        if (!lock.ok()) return;
        const int now = ++inside;
        if (now > most) most = now;
        --inside;
      }
    });
  }
  for (std::thread& thread : threads)
    thread.join();
  EXPECT_EQ(most, 1);
}

TEST(FileLockTest, ComesBackFromAProcessThatDied) {
  const ScratchFolder folder;
  testing::HeldByChild child([&](const auto& keep) {
    const auto lock = FileLock::acquire(folder / "lock", milliseconds(0));
    keep(lock.ok());
  });
  ASSERT_TRUE(child.is_taken());
  EXPECT_EQ(FileLock::acquire(folder / "lock", milliseconds(0)).status().code(), StatusCode::kBusy);
  child.kill();
  EXPECT_TRUE(FileLock::acquire(folder / "lock", milliseconds(0)).ok());
}

TEST(FileLockTest, IsANewOneWhenItsFileWasRemoved) {
  const ScratchFolder folder;
  const auto first = FileLock::acquire(folder / "lock", milliseconds(0));
  ASSERT_TRUE(first.ok());
  std::filesystem::remove(folder / "lock");
  EXPECT_TRUE(FileLock::acquire(folder / "lock", milliseconds(0)).ok());
}

TEST(FileLockTest, SaysWhyThereIsNone) {
  const ScratchFolder folder;
  EXPECT_EQ(FileLock::acquire(folder / "none" / "lock", milliseconds(0)).status().code(), StatusCode::kNotFound);
  EXPECT_EQ(FileLock::acquire("", milliseconds(0)).status().code(), StatusCode::kInvalidArgument);
}

TEST(FolderLockTest, LetsOneThreadInAtATimeAndLeavesNothing) {
  const ScratchFolder folder;
  std::atomic<int> inside{0};
  std::atomic<int> most{0};
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < 4; ++i) {
      threads.emplace_back([&] {
        const FolderLock lock(folder.path(), kLong);
        const int now = ++inside;
        if (now > most) most = now;
        std::this_thread::sleep_for(milliseconds(2));
        --inside;
      });
    }
  }
  EXPECT_EQ(most, 1);
  EXPECT_TRUE(folder.names().empty());
}

TEST(FolderLockTest, IsWaitedForNoLongerThanAsked) {
  const ScratchFolder folder;
  const FolderLock first(folder.path());
  const auto begin = std::chrono::steady_clock::now();
  const FolderLock second(folder.path(), milliseconds(30));
  EXPECT_GE(std::chrono::steady_clock::now() - begin, milliseconds(30));
  const FolderLock none(folder / "none", kLong);  // ends at once
}

}  // namespace
}  // namespace latebind::platform
