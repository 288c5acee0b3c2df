#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>  // NOLINT(modernize-deprecated-headers): sigaction() is POSIX, not C
#include <sys/stat.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstdio>
#include <thread>
#include <utility>

#include "core/platform/child_process.h"
#include "core/platform/child_watch.h"
#include "tests/platform/support.h"

namespace latebind::platform {
namespace {

using core::StatusCode;
using End = ChildOutcome::End;
using std::chrono::milliseconds;

core::Result<ChildOutcome> shell(const std::string& script, const ChildLimits& limits = {}) {
  return run_child("/bin/sh", {"-c", script}, limits);
}

TEST(ChildProcessTest, GivesBothStreamsAndTheStatus) {
  const auto outcome = shell("echo out; echo err >&2; exit 3");
  ASSERT_TRUE(outcome.ok()) << outcome.status().to_string();
  EXPECT_EQ(outcome->end, End::kExited);
  EXPECT_EQ(outcome->number, 3);
  EXPECT_FALSE(outcome->good());
  EXPECT_EQ(outcome->output, "out\n");
  EXPECT_EQ(outcome->errors, "err\n");
  EXPECT_EQ(describe(*outcome), "ended with exit status 3");
}

TEST(ChildProcessTest, ArgumentsAreNoShellsBusiness) {
  const std::string strange = "a b\"c'$HOME;\\ \n*";
  const auto outcome = run_child("/bin/sh", {"-c", "printf %s \"$1\"", "sh", strange});
  ASSERT_TRUE(outcome.ok());
  EXPECT_EQ(outcome->output, strange);
}

TEST(ChildProcessTest, ACrashIsASignal) {
  const auto outcome = shell("kill -SEGV $$");
  ASSERT_TRUE(outcome.ok());
  EXPECT_EQ(outcome->end, End::kSignal);
  EXPECT_EQ(outcome->number, 11);
  EXPECT_EQ(describe(*outcome), "crashed with signal 11");
}

TEST(ChildProcessTest, ASignalFromOutsideIsNoCrash) {
  const auto outcome = shell("kill -KILL $$");
  ASSERT_TRUE(outcome.ok());
  EXPECT_EQ(outcome->end, End::kSignal);
  EXPECT_EQ(describe(*outcome), "was ended by signal 9");
  EXPECT_FALSE(ended_by_own_fault(*outcome));
  EXPECT_TRUE(ended_by_own_fault(*shell("kill -ABRT $$")));
}

// As a program that never wants to hear of its children does.
class WithoutSigchld {
 public:
  WithoutSigchld() { ::sigaction(SIGCHLD, &ignored_, &before_); }
  WithoutSigchld(const WithoutSigchld&) = delete;
  WithoutSigchld& operator=(const WithoutSigchld&) = delete;
  ~WithoutSigchld() { ::sigaction(SIGCHLD, &before_, nullptr); }

 private:
  struct sigaction ignored_ = [] {
    struct sigaction action {};
    action.sa_handler = SIG_IGN;
    return action;
  }();
  struct sigaction before_ {};
};

TEST(ChildProcessTest, AChildIsKnownToHaveEndedWhenSigchldIsIgnored) {
  const WithoutSigchld without;
  const auto outcome = shell("echo out; echo err >&2; exit 3", {.time = std::chrono::minutes(5)});
  ASSERT_TRUE(outcome.ok());
  EXPECT_EQ(outcome->end, End::kUnknown);
  EXPECT_FALSE(outcome->good());
  EXPECT_EQ(outcome->output, "out\n");
  EXPECT_EQ(outcome->errors, "err\n");
  EXPECT_THAT(describe(*outcome), ::testing::HasSubstr("SIGCHLD"));
}

TEST(ChildProcessTest, ATimeLimitHoldsWhenSigchldIsIgnored) {
  const WithoutSigchld without;
  const auto outcome = shell("echo started; sleep 600", {.time = milliseconds(300)});
  ASSERT_TRUE(outcome.ok());
  EXPECT_EQ(outcome->end, End::kTimedOut);
  EXPECT_EQ(outcome->output, "started\n");
}

TEST(ChildProcessTest, AHostThatReapsEveryChildStopsNobody) {
  std::atomic<bool> over{false};
  std::thread reaper([&over] {
    while (!over) {
      int status = 0;
      if (::waitpid(-1, &status, 0) < 0) std::this_thread::yield();
    }
  });
  int unknown = 0;
  for (int i = 0; i < 50; ++i) {
    const auto outcome = shell("echo out", {.time = std::chrono::minutes(5)});
    ASSERT_TRUE(outcome.ok());
    EXPECT_NE(outcome->end, End::kTimedOut);
    EXPECT_EQ(outcome->output, "out\n");
    if (outcome->end == End::kUnknown) ++unknown;
  }
  over = true;
  reaper.join();
  RecordProperty("unknown", unknown);
}

TEST(ChildProcessTest, WhatAChildHasStartedGoesThoughTheChildWasReaped) {
  utsname system{};
  ASSERT_EQ(::uname(&system), 0);
  int major = 0;
  int minor = 0;
  ASSERT_EQ(std::sscanf(system.release, "%d.%d", &major, &minor), 2);
  if (std::pair(major, minor) < std::pair(6, 9)) GTEST_SKIP() << "this kernel knows process groups by number alone";
  const WithoutSigchld without;
  std::array<int, 2> go{};
  std::array<int, 2> life{};
  ASSERT_EQ(::pipe2(go.data(), O_CLOEXEC), 0);
  ASSERT_EQ(::pipe2(life.data(), O_CLOEXEC), 0);
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    ::setpgid(0, 0);
    char word = 0;
    static_cast<void>(::read(go[0], &word, 1));
    if (::fork() == 0) ::pause();
    ::_exit(0);
  }
  ::close(life[1]);
  ChildWatch watch(child);
  ASSERT_EQ(::write(go[1], "x", 1), 1);
  EXPECT_EQ(watch.reap(std::chrono::minutes(1)), ChildWatch::State::kEndedUnknown);
  watch.kill_group();
  // Ends when nobody holds the other end any more.
  pollfd watched{life[0], POLLIN, 0};
  EXPECT_EQ(::poll(&watched, 1, 60'000), 1);
  EXPECT_NE(watched.revents & POLLHUP, 0);
  for (const int fd : {go[0], go[1], life[0]})
    ::close(fd);
}

TEST(ChildProcessTest, OneThatHangsIsEndedWithWhatItHasSaid) {
  const auto outcome = shell("echo started; sleep 600", {.time = milliseconds(300)});
  ASSERT_TRUE(outcome.ok());
  EXPECT_EQ(outcome->end, End::kTimedOut);
  EXPECT_EQ(outcome->output, "started\n");
  EXPECT_EQ(describe(*outcome), "did not end in time");
}

TEST(ChildProcessTest, OneThatClosesItsStreamsAndHangsIsEnded) {
  const auto outcome = shell("exec >&- 2>&-; sleep 600", {.time = milliseconds(300)});
  ASSERT_TRUE(outcome.ok());
  EXPECT_EQ(outcome->end, End::kTimedOut);
}

TEST(ChildProcessTest, DoesNotWaitForWhatTheChildHasStarted) {
  const auto outcome = shell("sleep 600 & echo done", {.time = std::chrono::minutes(5)});
  ASSERT_TRUE(outcome.ok());
  EXPECT_TRUE(outcome->good());
  EXPECT_EQ(outcome->output, "done\n");
}

TEST(ChildProcessTest, OutputIsBounded) {
  const auto outcome = shell("head -c 300000 /dev/zero; echo end >&2", {.output_bytes = 1000});
  ASSERT_TRUE(outcome.ok());
  EXPECT_TRUE(outcome->good());
  EXPECT_EQ(outcome->output.size(), 1000U);
  EXPECT_EQ(outcome->errors, "end\n");
}

TEST(ChildProcessTest, ReadsNothingAndInheritsNoOpenFile) {
  const auto outcome = shell("cat; ls /proc/self/fd | wc -l");
  ASSERT_TRUE(outcome.ok());
  // Three streams, and the folder that ls reads.
  EXPECT_EQ(outcome->output, "4\n");
}

TEST(ChildProcessTest, WhatCannotBeStartedIsNamed) {
  const auto missing = run_child("/nonexistent/program", {});
  EXPECT_EQ(missing.status().code(), StatusCode::kNotFound);
  EXPECT_THAT(missing.status().to_string(), ::testing::HasSubstr("/nonexistent/program"));
  const testing::ScratchFolder folder;
  testing::write_file(folder / "plain", "no program");
  EXPECT_EQ(run_child(folder / "plain", {}).status().code(), StatusCode::kPermissionDenied);
  EXPECT_EQ(run_child("", {}).status().code(), StatusCode::kInvalidArgument);
}

TEST(ChildProcessTest, KnowsThisProgramsFile) {
  const auto own = own_program_file();
  ASSERT_TRUE(own.ok());
  EXPECT_THAT(own->filename().string(), ::testing::StartsWith("lb_platform_tests"));
}

}  // namespace
}  // namespace latebind::platform
