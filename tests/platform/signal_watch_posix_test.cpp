// Signals are the program's first: tried on a program of its own, since they are whole processes' affairs.
#include <gtest/gtest.h>
#include <sched.h>
#include <signal.h>  // NOLINT(modernize-deprecated-headers): POSIX has more in it than C
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <functional>
#include <string>

#include "core/platform/signal_watch.h"
#include "tests/platform/support.h"

namespace latebind::platform {
namespace {

using testing::ScratchFolder;

// The child of fixtures/child.cpp that watches, with its input and output.
class Watcher {
 public:
  // `before`, if any, is called in the new process; false means that it cannot be tried here.
  explicit Watcher(const std::string& manner, const std::function<bool()>& before = nullptr) {
    testing::write_file(leftover() / "file", "x");
    int input[2] = {-1, -1};
    int output[2] = {-1, -1};
    if (::pipe(input) != 0 || ::pipe(output) != 0) return;
    process_ = ::fork();
    if (process_ == 0) {
      if (before && !before()) ::_exit(kCannotBeTried);
      ::dup2(input[0], STDIN_FILENO);
      ::dup2(output[1], STDOUT_FILENO);
      for (const int end : {input[0], input[1], output[0], output[1]})
        ::close(end);
      ::execl(FIXTURE_CHILD, FIXTURE_CHILD, "watch", manner.c_str(), leftover().c_str(), nullptr);
      ::_exit(kCannotBeTried);
    }
    ::close(input[0]);
    ::close(output[1]);
    input_ = input[1];
    output_ = output[0];
  }
  Watcher(const Watcher&) = delete;
  Watcher& operator=(const Watcher&) = delete;
  ~Watcher() {
    if (process_ > 0 && !ended_) {
      ::kill(process_, SIGKILL);
      static_cast<void>(end());
    }
    ::close(input_);
    ::close(output_);
  }

  void send(int number) const { ::kill(process_, number); }
  void let_go_on() const { ASSERT_EQ(::write(input_, "x", 1), 1); }
  // Without its end; empty at the end of the output.
  [[nodiscard]] std::string next_line() const {
    std::string line;
    for (char byte = 0; ::read(output_, &byte, 1) == 1 && byte != '\n';)
      line += byte;
    return line;
  }
  // The signal that ended it, or its exit code and 1000.
  int end() {
    int state = 0;
    while (::waitpid(process_, &state, 0) < 0 && errno == EINTR) {
    }
    ended_ = true;
    return WIFSIGNALED(state) ? WTERMSIG(state) : 1000 + WEXITSTATUS(state);
  }
  [[nodiscard]] bool has_left_something() const { return !folder_.names().empty(); }

  static constexpr int kCannotBeTried = 77;

 private:
  [[nodiscard]] std::filesystem::path leftover() const {
    const auto place = folder_ / "leftover";
    std::filesystem::create_directory(place);
    return place;
  }

  ScratchFolder folder_;
  pid_t process_ = -1;
  bool ended_ = false;
  int input_ = -1;
  int output_ = -1;
};

TEST(SignalWatchTest, AHandlerTakesCareOfSignalsUntilItDoesNot) {
  Watcher program("usual");
  ASSERT_EQ(program.next_line(), "started");
  program.send(SIGHUP);
  EXPECT_EQ(program.next_line(), "hangup");
  program.send(SIGTERM);
  EXPECT_EQ(program.next_line(), "terminate");
  EXPECT_TRUE(program.has_left_something());
  program.send(SIGHUP);
  EXPECT_EQ(program.next_line(), "hangup");
  program.send(SIGTERM);
  EXPECT_EQ(program.next_line(), "terminate");
  EXPECT_EQ(program.end(), SIGTERM);
  EXPECT_FALSE(program.has_left_something());
}

TEST(SignalWatchTest, AnotherSignalEndsWhatTheFirstHasBegun) {
  Watcher program("usual");
  ASSERT_EQ(program.next_line(), "started");
  program.send(SIGTERM);
  EXPECT_EQ(program.next_line(), "terminate");
  program.send(SIGINT);
  EXPECT_EQ(program.next_line(), "interrupt");
  EXPECT_EQ(program.end(), SIGINT);
  EXPECT_FALSE(program.has_left_something());
}

TEST(SignalWatchTest, ASignalThatComesDuringAnothersHandlerIsHeardAfterIt) {
  Watcher program("wait");
  ASSERT_EQ(program.next_line(), "started");
  program.send(SIGTERM);
  ASSERT_EQ(program.next_line(), "terminate");
  program.send(SIGTERM);
  program.let_go_on();
  EXPECT_EQ(program.next_line(), "terminate");
  program.let_go_on();
  EXPECT_EQ(program.end(), SIGTERM);
  EXPECT_FALSE(program.has_left_something());
}

TEST(SignalWatchTest, AHandlerThatThrowsHasTakenCareOfNothing) {
  Watcher program("throw");
  ASSERT_EQ(program.next_line(), "started");
  program.send(SIGTERM);
  EXPECT_EQ(program.end(), SIGTERM);
  EXPECT_FALSE(program.has_left_something());
}

TEST(SignalWatchTest, WhatIsIgnoredIsNotHeardOf) {
  Watcher program("usual", [] { return ::signal(SIGHUP, SIG_IGN) != SIG_ERR; });
  ASSERT_EQ(program.next_line(), "started");
  program.send(SIGHUP);
  program.send(SIGINT);
  EXPECT_EQ(program.next_line(), "interrupt");
  EXPECT_EQ(program.end(), SIGINT);
}

// Where no signal ends a process by itself, which has to leave on its own then.
TEST(SignalWatchTest, TheFirstProcessOfAContainerEndsAsWell) {
  if (!testing::is_root()) GTEST_SKIP() << "only root can make a container like this";
  Watcher program("none", [] {
    if (::unshare(CLONE_NEWPID) != 0) return false;
    // What stays between the test and the container passes SIGTERM on.
    sigset_t passed_on;
    ::sigemptyset(&passed_on);
    ::sigaddset(&passed_on, SIGTERM);
    ::sigprocmask(SIG_BLOCK, &passed_on, nullptr);
    const pid_t first = ::fork();
    if (first < 0) return false;
    if (first == 0) {
      ::sigprocmask(SIG_UNBLOCK, &passed_on, nullptr);
      return ::prctl(PR_SET_PDEATHSIG, SIGKILL) == 0;
    }
    // Ends it, and the container with it, when the program does not.
    ::alarm(60);
    int number = 0;
    if (::sigwait(&passed_on, &number) != 0) return false;
    ::kill(first, number);
    int state = 0;
    ::waitpid(first, &state, 0);
    // Newer kernels let it end by the signal itself, where a thread sends that.
    ::_exit(WIFEXITED(state) ? WEXITSTATUS(state) : 128 + WTERMSIG(state));
  });
  if (const auto line = program.next_line(); line.empty()) {
    ASSERT_EQ(program.end(), 1000 + Watcher::kCannotBeTried);
    GTEST_SKIP() << "this system lets nobody make a container";
  } else {
    ASSERT_EQ(line, "started");
  }
  program.send(SIGTERM);
  EXPECT_EQ(program.end(), 1000 + 128 + SIGTERM);
  EXPECT_FALSE(program.has_left_something());
}

TEST(SignalWatchTest, AHandlerIsRefusedWhereNobodyWatches) {
  EXPECT_FALSE(set_signal_handler([](Signal) { return true; }));
}

}  // namespace
}  // namespace latebind::platform
