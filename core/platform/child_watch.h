// ChildWatch: watches one child process on Linux, in a program whose other parts may reap every child (waitpid(-1), or
// SIGCHLD ignored). Internal to core/platform.
//
// If the kernel has pidfds (5.4), a pidfd refers to the child itself, while its number may be reused by another
// process. One thread at a time.
#pragma once

#include <sys/types.h>

#include <chrono>

namespace latebind::platform {

class ChildWatch {
 public:
  enum class State {
    kRuns,
    kEnded,
    // Like kEnded, but other code took the exit status or discarded it.
    kEndedUnknown,
  };

  // Watches a child of this process that was just started as the leader of a process group.
  explicit ChildWatch(pid_t child);
  ChildWatch(const ChildWatch&) = delete;
  ChildWatch& operator=(const ChildWatch&) = delete;
  ~ChildWatch();

  // Readable as soon as the child has ended; -1 if the kernel has no pidfds or no file descriptor is left.
  [[nodiscard]] int descriptor() const { return pidfd_; }

  // Returns the state of the child without waiting.
  [[nodiscard]] State look();

  // Sends SIGKILL to the child and its whole group. It signals no process if the child's number may have been reused
  // and the kernel (before 6.9) identifies groups only by number; processes that the child has started then live on.
  void kill_group();

  // Waits until the child has ended, and reaps it. Returns kRuns if the limit passes because the child is stuck in the
  // kernel.
  State reap(std::chrono::milliseconds limit);

  // How the child ended; valid after kEnded.
  [[nodiscard]] bool by_signal() const { return by_signal_; }
  [[nodiscard]] int number() const { return number_; }

 private:
  State ask(int flags);

  const pid_t child_;
  int pidfd_ = -1;
  State state_ = State::kRuns;
  bool by_signal_ = false;
  int number_ = 0;
};

}  // namespace latebind::platform
