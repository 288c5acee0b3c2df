// OutputLock among processes, links and folders of others.
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <string>
#include <vector>

#include "core/platform/files/output_file.h"
#include "core/platform/files/output_lock.h"
#include "tests/platform/held_by_child.h"
#include "tests/platform/support.h"

namespace latebind::platform {
namespace {

using core::StatusCode;
using std::chrono::milliseconds;
using testing::ScratchFolder;

void make_old(const std::filesystem::path& file) {
  std::filesystem::last_write_time(file, std::filesystem::file_time_type::clock::now() - std::chrono::minutes(2));
}

TEST(OutputLockTest, IsTheSameForEveryNameOfAPlace) {
  const ScratchFolder folder;
  std::ofstream(folder / "place") << "x";
  std::filesystem::create_symlink("place", folder / "link");
  const auto lock = OutputLock::acquire(folder / "link", milliseconds(0));
  ASSERT_TRUE(lock.ok() && lock->is_held());
  EXPECT_EQ(OutputLock::acquire(folder / "place", milliseconds(0)).status().code(), StatusCode::kBusy);
  const auto pipe = OutputLock::acquire("/dev/null", milliseconds(0));
  EXPECT_TRUE(pipe.ok() && !pipe->is_held());
}

TEST(OutputLockTest, OfAKilledProcessLocksNobodyOutAndIsRemoved) {
  const ScratchFolder folder;
  testing::HeldByChild child([&](const auto& keep) {
    const auto place = OutputLock::acquire(folder / "place", milliseconds(0));
    const auto other = OutputLock::acquire(folder / "other", milliseconds(0));
    keep(place.ok() && other.ok());
  });
  ASSERT_TRUE(child.is_taken());
  for (const std::string& name : folder.names())
    make_old(folder / name);
  static_cast<void>(remove_abandoned_outputs(folder.path()));
  EXPECT_EQ(folder.names().size(), 2U) << "held";
  child.kill();
  {
    const auto lock = OutputLock::acquire(folder / "place", milliseconds(0));
    EXPECT_TRUE(lock.ok() && lock->is_held());
  }
  EXPECT_EQ(folder.names().size(), 1U) << "that of the other place";
  static_cast<void>(remove_abandoned_outputs(folder.path()));
  EXPECT_EQ(folder.names(), std::vector<std::string>{});
}

TEST(OutputLockTest, AChildLeavesItToItsParent) {
  const ScratchFolder folder;
  auto lock = OutputLock::acquire(folder / "place", milliseconds(0));
  ASSERT_TRUE(lock.ok());
  const pid_t child = ::fork();
  if (child == 0) {
    { const OutputLock gone = *std::move(lock); }
    ::_exit(0);
  }
  ::waitpid(child, nullptr, 0);
  EXPECT_EQ(folder.names().size(), 1U);
  EXPECT_EQ(OutputLock::acquire(folder / "place", milliseconds(0)).status().code(), StatusCode::kBusy);
}

TEST(OutputLockTest, NoneIsHeldInAFolderThatMayNotBeWrittenTo) {
  const ScratchFolder folder;
  ::chmod(folder.path().c_str(), 0555);
  EXPECT_EQ(testing::as_nobody([&] {
              const auto lock = OutputLock::acquire(folder / "place", milliseconds(0));
              return lock.ok() ? std::string(lock->is_held() ? "held" : "not held") : lock.status().to_string();
            }),
            "not held");
}

}  // namespace
}  // namespace latebind::platform
