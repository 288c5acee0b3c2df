// Watches for signals that would end the program, so that the program can handle them first: SIGTERM, SIGINT and
// SIGHUP; on Windows Ctrl+C, Ctrl+Break, and the closing of the console, the session or the system. For programs only:
// the library leaves signals to its host.
//
// One thread waits for signals and handles one at a time. It is an ordinary thread, not the context of a signal
// handler, so a SignalHandler may lock, allocate and log.
#pragma once

#include <functional>

namespace latebind::platform {

enum class Signal {
  kTerminate,  // SIGTERM; Windows: the console, the session or the system is being closed
  kInterrupt,  // SIGINT; Windows: Ctrl+C and Ctrl+Break
  kHangup,     // SIGHUP; never on Windows
};

// Handles one signal. Returns true if the signal was handled and the process goes on. If it returns false or throws,
// the process ends as it would have without it. It is called on the waiting thread, which receives the next signal only
// after it returns, so it should leave work to other threads. Signals that arrive meanwhile are not lost, but two of
// one kind count as one. On Windows, the system ends the process a few seconds after kTerminate whatever the handler
// returns.
using SignalHandler = std::function<bool(Signal)>;

// From now on, each signal above calls `before_end` and then ends this process as it would have anyway, unless a
// handler takes care of it. A signal that is ignored (nohup) stays ignored. Call it once, before there is another
// thread. Returns false, and changes nothing, if the system cannot create the thread.
bool watch_signals(void (*before_end)() noexcept);

// Replaces the handler; an empty function removes it, which is also the initial state. When this returns, the previous
// handler is not running and will not be called again, so what it refers to may be destroyed. A handler must not call
// this function. Returns false, without effect, if watch_signals() was not called or failed. May be called from any
// thread.
bool set_signal_handler(SignalHandler handler);

}  // namespace latebind::platform
