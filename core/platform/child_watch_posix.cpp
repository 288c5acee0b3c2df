#include <poll.h>
#include <signal.h>  // NOLINT(modernize-deprecated-headers): kill() is POSIX, not C
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <thread>

#include "core/platform/child_watch.h"

// The number is the same on every architecture. A C library may be older than its kernel.
#ifndef SYS_pidfd_send_signal
#define SYS_pidfd_send_signal 424
#endif
#ifndef SYS_pidfd_open
#define SYS_pidfd_open 434
#endif

namespace latebind::platform {
namespace {

// P_PIDFD and PIDFD_SIGNAL_PROCESS_GROUP of the kernel's headers.
constexpr auto kByPidfd = static_cast<idtype_t>(3);
constexpr unsigned kProcessGroup = 4;

constexpr std::chrono::milliseconds kPause{5};

}  // namespace

// Other code may have reaped the child already. Then the number is unused, or belongs to a process that is not a child
// of this one; the kernel reports that when the end is queried.
ChildWatch::ChildWatch(pid_t child) : child_(child), pidfd_(static_cast<int>(::syscall(SYS_pidfd_open, child, 0))) {
  if (pidfd_ < 0) {
    if (errno == ESRCH) state_ = State::kEndedUnknown;
    return;
  }
  siginfo_t info{};
  if (::waitid(kByPidfd, static_cast<id_t>(pidfd_), &info, WEXITED | WNOHANG | WNOWAIT) == 0) return;
  if (errno == ECHILD) state_ = State::kEndedUnknown;
  ::close(pidfd_);
  pidfd_ = -1;
}

ChildWatch::~ChildWatch() {
  if (pidfd_ >= 0) ::close(pidfd_);
}

ChildWatch::State ChildWatch::ask(int flags) {
  if (state_ == State::kEndedUnknown) return state_;
  siginfo_t info{};
  int result = 0;
  do {
    result = pidfd_ >= 0 ? ::waitid(kByPidfd, static_cast<id_t>(pidfd_), &info, WEXITED | flags)
                         : ::waitid(P_PID, static_cast<id_t>(child_), &info, WEXITED | flags);
  } while (result != 0 && errno == EINTR);
  if (result != 0) {
    // A state that was seen before is still valid.
    if (state_ == State::kRuns) state_ = State::kEndedUnknown;
    return state_;
  }
  if (info.si_pid == 0) return State::kRuns;
  state_ = State::kEnded;
  by_signal_ = info.si_code != CLD_EXITED;
  number_ = info.si_status;
  return state_;
}

ChildWatch::State ChildWatch::look() {
  return ask(WNOHANG | WNOWAIT);
}

void ChildWatch::kill_group() {
  if (pidfd_ >= 0 && ::syscall(SYS_pidfd_send_signal, pidfd_, SIGKILL, nullptr, kProcessGroup) == 0) return;
  // Kills by number only while the child, alive or not yet reaped, holds it.
  siginfo_t info{};
  const bool ours = pidfd_ >= 0 ? ::waitid(kByPidfd, static_cast<id_t>(pidfd_), &info, WEXITED | WNOHANG | WNOWAIT) == 0
                                : ::waitid(P_PID, static_cast<id_t>(child_), &info, WEXITED | WNOHANG | WNOWAIT) == 0;
  if (ours && state_ != State::kEndedUnknown) ::kill(-child_, SIGKILL);
}

ChildWatch::State ChildWatch::reap(std::chrono::milliseconds limit) {
  const auto deadline = std::chrono::steady_clock::now() + limit;
  while (ask(WNOHANG) == State::kRuns && std::chrono::steady_clock::now() < deadline) {
    if (pidfd_ >= 0) {
      pollfd watched{pidfd_, POLLIN, 0};
      static_cast<void>(::poll(&watched, 1, static_cast<int>(limit.count())));
    } else {
      std::this_thread::sleep_for(kPause);
    }
  }
  return state_;
}

}  // namespace latebind::platform
