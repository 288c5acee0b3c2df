#include <cstdio>
#include <cstdlib>
#include <exception>
#include <thread>

#include "core/platform/detached_thread.h"
#include "core/platform/process_end.h"
#include "core/platform/windows_error.h"

namespace latebind::platform {

// Windows ends all other threads before it notifies the libraries, so no thread is inside one any more, and none can be
// waited for.
bool is_main_thread() noexcept {
  return false;
}

void call_at_exit(void (*)()) noexcept {}

void end_program(int code) noexcept {
  std::fflush(nullptr);
  // The libraries are not notified either, because one of the ended threads may have held a lock of theirs.
  ::TerminateProcess(::GetCurrentProcess(), static_cast<UINT>(code));
  std::abort();
}

void end_program_within(std::chrono::milliseconds time, int code) noexcept {
  try {
    run_detached([time, code] {
      std::this_thread::sleep_for(time);
      ::TerminateProcess(::GetCurrentProcess(), static_cast<UINT>(code));
    });
  } catch (const std::exception&) {
    // No thread is available.
  }
}

}  // namespace latebind::platform
