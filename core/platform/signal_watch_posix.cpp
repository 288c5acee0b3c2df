#include <signal.h>  // NOLINT(modernize-deprecated-headers): POSIX has more in it than C
#include <unistd.h>

#include <atomic>
#include <exception>
#include <system_error>
#include <utility>

#include "core/platform/detached_thread.h"
#include "core/platform/process_generation.h"
#include "core/platform/signal_watch.h"
#include "core/threads/mutex.h"

namespace latebind::platform {
namespace {

struct Watch {
  std::atomic<bool> exists{false};
  core::Mutex mutex;
  SignalHandler handler LB_GUARDED_BY(mutex);
};

// A child made by fork() has no watch, because it does not have the thread. Never destroyed, because the thread
// outlives main().
Watch& watch() {
  static PerProcess<Watch> instance;
  return instance.get();
}

Signal signal_of(int number) {
  if (number == SIGTERM) return Signal::kTerminate;
  return number == SIGINT ? Signal::kInterrupt : Signal::kHangup;
}

bool is_taken_care_of(int number) {
  auto& known = watch();
  const core::MutexLock lock(known.mutex);
  try {
    return known.handler && known.handler(signal_of(number));
  } catch (const std::exception&) {
    return false;
  }
}

}  // namespace

// Signals are handled on a thread that waits for them, because a signal handler may do very little.
bool watch_signals(void (*before_end)() noexcept) {
  sigset_t awaited;
  sigset_t before;
  ::sigemptyset(&awaited);
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction action {};
    if (::sigaction(number, nullptr, &action) == 0 && action.sa_handler == SIG_DFL) ::sigaddset(&awaited, number);
  }
  // New threads inherit the mask of the thread that starts them.
  if (::pthread_sigmask(SIG_BLOCK, &awaited, &before) != 0) return false;
  try {
    run_detached([awaited, before_end] {
      int number = 0;
      do {
        while (::sigwait(&awaited, &number) != 0) {
        }
      } while (is_taken_care_of(number));
      // The next signal ends the process at once, even if this one still waits.
      ::pthread_sigmask(SIG_UNBLOCK, &awaited, nullptr);
      before_end();
      ::kill(::getpid(), number);
      // Reached only in the first process of a container, which a signal without a handler does not end.
      ::_exit(128 + number);
    });
  } catch (const std::system_error&) {
    ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
    return false;
  }
  watch().exists = true;
  return true;
}

bool set_signal_handler(SignalHandler handler) {
  auto& known = watch();
  if (!known.exists) return false;
  {
    const core::MutexLock lock(known.mutex);
    std::swap(known.handler, handler);
  }
  // The old handler is destroyed outside of the lock.
  return true;
}

}  // namespace latebind::platform
