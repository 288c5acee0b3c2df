// The end of the process. Any thread.
#pragma once

namespace latebind::platform {

// True on the thread that main() runs on, whose end is that of the process. False where the system has ended the other
// threads before this one's objects go.
[[nodiscard]] bool is_main_thread() noexcept;

// Has exit() call `action` while the other threads still run; not at all where there are none any more by then. Without
// memory for that, nothing happens.
void call_at_exit(void (*action)()) noexcept;

// For programs: writes out what the C library's streams hold, and ends the process without what exit() would do in the
// libraries that it has opened.
[[noreturn]] void end_program(int code) noexcept;

}  // namespace latebind::platform
