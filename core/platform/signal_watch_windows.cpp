#include <atomic>
#include <exception>
#include <utility>

#include "core/platform/signal_watch.h"
#include "core/platform/windows_error.h"
#include "core/threads/mutex.h"

namespace latebind::platform {
namespace {

struct Watch {
  std::atomic<void (*)() noexcept> before_end{nullptr};
  core::Mutex mutex;
  SignalHandler handler LB_GUARDED_BY(mutex);
};

// Never destroyed: the system calls it on its own thread, even while main() returns.
Watch& watch() {
  static auto* const instance = new Watch;
  return *instance;
}

bool is_taken_care_of(Signal signal) {
  auto& known = watch();
  const core::MutexLock lock(known.mutex);
  try {
    return known.handler && known.handler(signal);
  } catch (const std::exception&) {
    return false;
  }
}

// The system calls this on its own thread. If it returns FALSE, the system ends the process.
BOOL WINAPI on_event(DWORD event) {
  const bool is_asked_for = event == CTRL_C_EVENT || event == CTRL_BREAK_EVENT;
  if (is_taken_care_of(is_asked_for ? Signal::kInterrupt : Signal::kTerminate)) {
    // After a close event, the process ends when this returns, and otherwise in a few seconds. The program needs that
    // time: its main() ends the process when it is done.
    if (!is_asked_for) ::Sleep(INFINITE);
    return TRUE;
  }
  watch().before_end.load()();
  return FALSE;
}

}  // namespace

bool watch_signals(void (*before_end)() noexcept) {
  watch().before_end = before_end;
  if (::SetConsoleCtrlHandler(on_event, TRUE) != 0) return true;
  watch().before_end = nullptr;
  return false;
}

bool set_signal_handler(SignalHandler handler) {
  auto& known = watch();
  if (known.before_end.load() == nullptr) return false;
  {
    const core::MutexLock lock(known.mutex);
    std::swap(known.handler, handler);
  }
  return true;
}

}  // namespace latebind::platform
