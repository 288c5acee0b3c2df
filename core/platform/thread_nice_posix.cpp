#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "core/platform/thread_nice.h"

namespace latebind::platform {
namespace {

// Linux treats a thread as a process here: each has its own value.
id_t this_thread() {
  return static_cast<id_t>(::syscall(SYS_gettid));
}

}  // namespace

int thread_nice() noexcept {
  errno = 0;
  const int nice = ::getpriority(PRIO_PROCESS, this_thread());
  return errno == 0 ? nice : 0;
}

void make_way(int nice) noexcept {
  if (nice > thread_nice()) static_cast<void>(::setpriority(PRIO_PROCESS, this_thread(), std::min(nice, kNiceMost)));
}

}  // namespace latebind::platform
