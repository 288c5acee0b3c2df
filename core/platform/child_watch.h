// Watches one child process on Linux, in a program whose other parts may reap every child (waitpid(-1), or SIGCHLD
// ignored). Internal to core/platform.
//
// Where the kernel has pidfds (5.4), one refers to the child itself: its number may be reused by another process. One
// thread at a time.
#pragma once

#include <sys/types.h>

#include <chrono>

namespace latebind::platform {

class ChildWatch {
 public:
  enum class State {
    kRuns,
    kEnded,
    // As kEnded, but its exit status was taken by other code or discarded.
    kEndedUnknown,
  };

  // A child of this process, which was just started as the leader of a process group.
  explicit ChildWatch(pid_t child);
  ChildWatch(const ChildWatch&) = delete;
  ChildWatch& operator=(const ChildWatch&) = delete;
  ~ChildWatch();

  // Readable as soon as the child has ended; -1 where the kernel has no pidfds, or no file descriptor is left.
  [[nodiscard]] int descriptor() const { return pidfd_; }

  [[nodiscard]] State look();

  // SIGKILL to the child and its whole group. No process is signalled when the child's number may have been reused and
  // the kernel (before 6.9) identifies groups only by number: what the child has started then lives on.
  void kill_group();

  // Waits until it has ended, and reaps it. kRuns: it is stuck in the kernel.
  State reap(std::chrono::milliseconds limit);

  // After kEnded: how it ended.
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
