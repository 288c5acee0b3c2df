// The nice value of a thread: how much it makes way for others that want the same processor.
//
// A thread that makes way gets a smaller share while others of the same control group (or, in an interactive session,
// of the same terminal) want the processor, and its full share otherwise. Linux only; on Windows these functions have
// no effect.
#pragma once

namespace latebind::platform {

inline constexpr int kNiceMost = 19;

// Returns the nice value of the calling thread, -20 to 19; 0 if the system does not report it.
int thread_nice() noexcept;

// Raises the nice value of the calling thread, and of threads that it creates later, to at least `nice`. Never lowers
// it, which the system may not allow.
void make_way(int nice) noexcept;

}  // namespace latebind::platform
