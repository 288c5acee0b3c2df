#include <signal.h>  // NOLINT(modernize-deprecated-headers): masks of threads are POSIX, not C

#include <ctime>

#include "core/platform/files/file_size_signal.h"

namespace latebind::platform {
namespace {

sigset_t the_signal() noexcept {
  sigset_t set;
  ::sigemptyset(&set);
  ::sigaddset(&set, SIGXFSZ);
  return set;
}

}  // namespace

NoFileSizeSignal::NoFileSizeSignal() noexcept {
  const sigset_t blocked = the_signal();
  sigset_t before;
  if (::pthread_sigmask(SIG_BLOCK, &blocked, &before) != 0) return;
  ends_with_this_ = ::sigismember(&before, SIGXFSZ) == 0;
}

NoFileSizeSignal::~NoFileSizeSignal() {
  if (!ends_with_this_) return;
  const sigset_t blocked = the_signal();
  // Consumes the signal that a write has sent to this thread.
  const timespec at_once{};
  (void)::sigtimedwait(&blocked, nullptr, &at_once);
  ::pthread_sigmask(SIG_UNBLOCK, &blocked, nullptr);
}

}  // namespace latebind::platform
