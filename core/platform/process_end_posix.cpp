#include <sys/syscall.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <thread>

#include "core/platform/detached_thread.h"
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

void end_program_within(std::chrono::milliseconds time, int code) noexcept {
  try {
    run_detached([time, code] {
      std::this_thread::sleep_for(time);
      ::_exit(code);
    });
  } catch (const std::exception&) {
    // No thread is available.
  }
}

}  // namespace latebind::platform
