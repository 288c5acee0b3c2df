// The end of the process. All functions may be called from any thread.
#pragma once

#include <chrono>

namespace latebind::platform {

// Whether this is the thread that runs main(), whose end is the end of the process. Always false on systems that end
// the other threads before this thread's objects are destroyed.
[[nodiscard]] bool is_main_thread() noexcept;

// Makes exit() call `action` while the other threads still run. Does nothing on systems that have ended them by then,
// and without memory for it.
void call_at_exit(void (*action)()) noexcept;

// For programs: flushes the C library's streams and ends the process, skipping everything that exit() would do in the
// libraries that it has opened.
[[noreturn]] void end_program(int code) noexcept;

// For programs: ends the process with this code once the time has passed, whatever it is waiting for then, unless it
// has ended by itself. It skips what exit() would do and does not flush streams. Does nothing if no thread can be
// created.
void end_program_within(std::chrono::milliseconds time, int code) noexcept;

}  // namespace latebind::platform
