// The end of the process. Any thread.
#pragma once

#include <chrono>

namespace latebind::platform {

// True on the thread that main() runs on, whose end is that of the process. False where the system has ended the other
// threads before this one's objects are destroyed.
[[nodiscard]] bool is_main_thread() noexcept;

// Makes exit() call `action` while the other threads still run; not at all where they are gone by then. Without memory
// for that, nothing happens.
void call_at_exit(void (*action)()) noexcept;

// For programs: flushes the C library's streams, and ends the process without what exit() would do in the libraries
// that it has opened.
[[noreturn]] void end_program(int code) noexcept;

// For programs: unless the process has ended by then, it ends with this code once the time has passed, whatever it
// waits for, without what exit() would do and without what streams still hold. Not at all where there is no thread for
// it.
void end_program_within(std::chrono::milliseconds time, int code) noexcept;

}  // namespace latebind::platform
