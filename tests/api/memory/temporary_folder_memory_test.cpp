// What others left in the place for temporary folders is swept without memory, too: the writer of the compile cache
// does so on a thread of its own, where whatever ends the process ends the host.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <new>
#include <optional>

#include "core/platform/files/temporary_folder.h"
#include "tests/support/failing_new.h"

namespace latebind::test {
namespace {

namespace fs = std::filesystem;

fs::path make_old_folder(const fs::path& folder) {
  fs::create_directory(folder);
  fs::permissions(folder, fs::perms::owner_all);
  return folder;
}

TEST(TemporaryFolderMemoryTest, WhatOthersLeftIsSweptOrLeftAndNothingEnds) {
  auto place = platform::TemporaryFolder::create("memory-test");
  ASSERT_TRUE(place.ok()) << place.status().to_string();
  ASSERT_EQ(::setenv("TMPDIR", place->path().c_str(), 1), 0);
  const auto long_ago = fs::file_time_type::clock::now() - std::chrono::hours(24 * 30);
  bool over = false;
  for (std::uint64_t n = 1; !over && n < 2'000; ++n) {
    const auto bare = make_old_folder(place->path() / "latebind-bare-abcdef");
    const auto kept = make_old_folder(place->path() / "latebind-kept-abcdef");
    std::ofstream(kept / "a file") << "somebody's";
    fs::last_write_time(bare, long_ago);
    fs::last_write_time(kept, long_ago);
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      refuse_allocation(n, Refusal::kFromThenOn);
      std::optional<core::Result<platform::TemporaryFolder>> made;
      try {
        made.emplace(platform::TemporaryFolder::create("swept"));
      } catch (const std::bad_alloc&) {
      }
      ::_exit(stop_refusing() ? 0 : 1);
    }
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFEXITED(status)) << "allocation " << n << ": ended by signal " << WTERMSIG(status);
    ASSERT_TRUE(fs::exists(kept / "a file"));
    // What the child made would be more to look at for the next one.
    for (const auto& entry : fs::directory_iterator(place->path())) {
      if (entry.path().filename().string().starts_with("latebind-swept-")) fs::remove_all(entry.path());
    }
    over = WEXITSTATUS(status) == 1;
    if (over) {
      EXPECT_FALSE(fs::exists(bare)) << "with memory it is swept";
    }
  }
  EXPECT_TRUE(over);
  ::unsetenv("TMPDIR");
}

}  // namespace
}  // namespace latebind::test
