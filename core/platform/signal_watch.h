// Signals that would end a program, asked of the program first: SIGTERM, SIGINT and SIGHUP; on Windows Ctrl+C,
// Ctrl+Break, and the closing of the console, the session or the system. For programs: the library leaves signals to
// its host.
//
// One thread waits for them, one after another. It is an ordinary thread and no signal handler's context, so that a
// handler may lock, allocate and log.
#pragma once

#include <functional>

namespace latebind::platform {

enum class Signal {
  kTerminate,  // SIGTERM; Windows: the console, the session or the system is being closed
  kInterrupt,  // SIGINT; Windows: Ctrl+C and Ctrl+Break
  kHangup,     // SIGHUP; never on Windows
};

// True: it was taken care of, and the process goes on. False, or an exception: the process ends as it would have
// anyway. Called on the thread that waits, which hears of the next signal only after it returns: it leaves work to
// other threads. What comes meanwhile is not lost, but two of one kind count as one. On Windows, the system ends the
// process a few seconds after kTerminate whatever the handler says.
using SignalHandler = std::function<bool(Signal)>;

// From now on, the signals above call `before_end` and then end this process as they would have anyway, unless a
// handler takes care of them. A signal that is ignored (nohup) stays ignored. Once, before there is another thread;
// false when the system could not create the thread, and then nothing has changed.
bool watch_signals(void (*before_end)() noexcept);

// Replaces the handler; an empty one means none, which is also the state at the start. When this returns, the previous
// one is not running and will not be called again, so that what it refers to may be destroyed; it must not be called by
// a handler. False, and without effect, when nobody waits for signals: watch_signals() was not called or failed. Any
// thread.
bool set_signal_handler(SignalHandler handler);

}  // namespace latebind::platform
