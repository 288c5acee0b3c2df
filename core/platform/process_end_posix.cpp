#include <sys/syscall.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

#include "core/platform/process_end.h"

namespace latebind::platform {

bool is_main_thread() noexcept {
  return ::syscall(SYS_gettid) == ::getpid();
}

void call_at_exit(void (*action)()) noexcept {
  static_cast<void>(std::atexit(action));
}

void end_program(int code) noexcept {
  std::fflush(nullptr);
  ::_exit(code);
}

}  // namespace latebind::platform
