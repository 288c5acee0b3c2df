// The compile cache under what processes and systems do to each other: killed writers, several writers, no room, no
// permission.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <functional>
#include <random>
#include <string>
#include <thread>

#include "core/cache/compile_cache.h"
#include "core/platform/files/output_file.h"
#include "tests/core/cache_folder.h"

namespace latebind::core {
namespace {

using std::filesystem::path;
using test::blob_of;
using test::text_of;

CompileKey shared_key_of(const std::string& model) {
  return make_compile_key(model, "a model", {"toy", "CPU", DeviceKind::kCpu, "a processor", "1.0", {}}, {});
}

// Its bytes follow from `seed`, so that a wrong one is known as such.
std::string payload_of(unsigned seed, std::size_t size) {
  std::minstd_rand random(seed);
  std::string text(size, '\0');
  for (std::size_t i = 0; i < size; i += 64)
    text[i] = static_cast<char>(random());
  return text;
}

pid_t fork_to(const std::function<int()>& work) {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(work());
  return child;
}

int wait_for(pid_t child) {
  int status = 0;
  while (::waitpid(child, &status, 0) < 0) {
  }
  return status;
}

class CompileCacheProcessesTest : public test::CacheFolderTest {
 protected:
  // As if they had been left an hour ago: younger ones are nobody's business but the writer's.
  void age_temporaries() const {
    for (const auto& file : std::filesystem::directory_iterator(folder)) {
      if (file.path().extension() != ".tmp") continue;
      std::filesystem::last_write_time(file.path(),
                                       std::filesystem::file_time_type::clock::now() - std::chrono::hours(1));
    }
  }
  std::size_t temporaries() const {
    std::size_t count = 0;
    for (const auto& file : std::filesystem::directory_iterator(folder))
      count += file.path().extension() == ".tmp" ? 1 : 0;
    return count;
  }
};

TEST_F(CompileCacheProcessesTest, TwoProcessesMayPutTheSameKeyAtOnce) {
  const std::string payload = payload_of(1, 300'000);
  const auto put = [&] {
    CompileStore store(folder);
    for (int i = 0; i < 20; ++i) {
      if (!store.put(shared_key_of("same"), blob_of(payload)).ok()) return 1;
      const auto blob = store.get(shared_key_of("same"));
      if (!blob.ok() || text_of(*blob) != payload) return 2;
    }
    return 0;
  };
  const pid_t one = fork_to(put);
  const pid_t two = fork_to(put);
  EXPECT_EQ(wait_for(one), 0);
  EXPECT_EQ(wait_for(two), 0);
  EXPECT_EQ(text_of(*CompileStore(folder).get(shared_key_of("same"))), payload);
  EXPECT_EQ(temporaries(), 0U);
}

TEST_F(CompileCacheProcessesTest, AWriterThatIsKilledAtAnyMomentLeavesNothingWrong) {
  std::mt19937 random(7);
  // On a slow machine no child may live long enough to make it.
  std::filesystem::create_directories(folder);
  CompileStore store(folder);
  for (unsigned round = 0; round < 40; ++round) {
    const pid_t child = fork_to([&] {
      CompileStore other(folder);
      for (unsigned i = 0; i < 1000; ++i)
        static_cast<void>(other.put(shared_key_of(std::to_string(i % 5)), blob_of(payload_of(i % 5, 400'000))));
      return 0;
    });
    // Any moment will do: nothing below depends on which.
    std::this_thread::sleep_for(std::chrono::microseconds(random() % 6000));
    ::kill(child, SIGKILL);
    static_cast<void>(wait_for(child));
    for (unsigned i = 0; i < 5; ++i) {
      const auto blob = store.get(shared_key_of(std::to_string(i)));
      if (!blob.ok()) continue;
      ASSERT_EQ(text_of(*blob), payload_of(i, 400'000));
    }
  }
  // The next writer tidies up behind the dead, and nobody is locked out.
  age_temporaries();
  ASSERT_TRUE(store.put(shared_key_of("last"), blob_of("last")).ok());
  EXPECT_EQ(temporaries(), 0U);
  EXPECT_TRUE(store.get(shared_key_of("last")).ok());
}

TEST_F(CompileCacheProcessesTest, ALivingWritersFileIsLeftAlone) {
  std::filesystem::create_directories(folder);
  auto writing = platform::OutputFile::create(folder / "entry");
  ASSERT_TRUE(writing.ok());
  age_temporaries();
  ASSERT_TRUE(CompileStore(folder).put(shared_key_of("other"), blob_of("other")).ok());
  EXPECT_EQ(temporaries(), 1U);
  EXPECT_TRUE(writing->commit().ok());
}

TEST_F(CompileCacheProcessesTest, AFullDiskLeavesNothingBehind) {
  const int status = wait_for(fork_to([&] {
    CompileStore store(folder);
    if (!store.put(shared_key_of("small"), blob_of("small")).ok()) return 1;
    const rlimit limit{100'000, 100'000};
    if (::setrlimit(RLIMIT_FSIZE, &limit) != 0) return 2;
    if (store.put(shared_key_of("large"), blob_of(payload_of(1, 3'000'000))).ok()) return 3;
    if (store.get(shared_key_of("large")).ok()) return 4;
    if (!store.get(shared_key_of("small")).ok()) return 5;
    return 0;
  }));
  EXPECT_EQ(WEXITSTATUS(status), 0);
  EXPECT_EQ(temporaries(), 0U);
}

TEST_F(CompileCacheProcessesTest, AReadOnlyFolderIsReadAndNothingElse) {
  ASSERT_TRUE(CompileStore(folder).put(shared_key_of("there"), blob_of("there")).ok());
  std::filesystem::permissions(parent->path(), std::filesystem::perms::owner_all | std::filesystem::perms::others_exec);
  std::filesystem::permissions(folder, static_cast<std::filesystem::perms>(0555));
  for (const auto& file : std::filesystem::directory_iterator(folder))
    std::filesystem::permissions(file.path(), static_cast<std::filesystem::perms>(0444));
  const int status = wait_for(fork_to([&] {
    // Root may write everywhere.
    if (::getuid() == 0 && (::setgid(65534) != 0 || ::setuid(65534) != 0)) return 1;
    CompileStore store(folder);
    const auto blob = store.get(shared_key_of("there"));
    if (!blob.ok() || text_of(*blob) != "there") return 2;
    if (store.put(shared_key_of("new"), blob_of("new")).code() != StatusCode::kPermissionDenied) return 3;
    return store.clear().ok() ? 4 : 0;
  }));
  EXPECT_EQ(WEXITSTATUS(status), 0);
  EXPECT_TRUE(CompileStore(folder).get(shared_key_of("there")).ok());
  std::filesystem::permissions(folder, std::filesystem::perms::owner_all);
}

}  // namespace
}  // namespace latebind::core
