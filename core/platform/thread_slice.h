// The slice of a thread: how long it computes at a time when several want the same processor.
#pragma once

namespace latebind::platform {

// For the calling thread, when it does little at a time and somebody waits for that: it asks for short slices, for
// which the system runs it sooner after it wakes. It gets no more of the processor than before. Linux 6.12 and newer
// follow; elsewhere nothing changes.
void prefer_short_slices() noexcept;

}  // namespace latebind::platform
