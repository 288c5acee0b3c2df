// The time slice of a thread: how long it runs at a time when several threads want the same processor.
#pragma once

namespace latebind::platform {

// Asks for short slices for the calling thread, so that the system runs it sooner after it wakes. For threads that do
// little work at a time while somebody waits for it. The thread's share of the processor stays the same. Works on Linux
// 6.12 and newer; has no effect elsewhere.
void prefer_short_slices() noexcept;

}  // namespace latebind::platform
