#include <signal.h>  // NOLINT(modernize-deprecated-headers): POSIX has more in it than C
#include <unistd.h>

#include <system_error>

#include "core/platform/detached_thread.h"
#include "core/platform/files/leftovers.h"

namespace latebind::platform {

// A thread that waits for them, since next to nothing may be done in a handler.
void remove_leftovers_on_signals() {
  sigset_t awaited;
  sigset_t before;
  ::sigemptyset(&awaited);
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction action {};
    if (::sigaction(number, nullptr, &action) == 0 && action.sa_handler == SIG_DFL) ::sigaddset(&awaited, number);
  }
  // Threads start with the mask of those that start them.
  if (::pthread_sigmask(SIG_BLOCK, &awaited, &before) != 0) return;
  try {
    run_detached([awaited] {
      int number = 0;
      while (::sigwait(&awaited, &number) != 0) {
      }
      // The next one ends the process at once, whatever this one waits for.
      ::pthread_sigmask(SIG_UNBLOCK, &awaited, nullptr);
      remove_leftovers();
      ::kill(::getpid(), number);
    });
  } catch (const std::system_error&) {
    ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  }
}

}  // namespace latebind::platform
