// How much a thread makes way for others that want the same processor: its nice value.
//
// A thread that makes way gets a smaller share where processors are wanted by others of the same control group (or, in
// an interactive session, of the same terminal), and just as much elsewhere. Linux; on Windows no thread makes way.
#pragma once

namespace latebind::platform {

inline constexpr int kNiceMost = 19;

// Of the calling thread: -20 to 19. 0 where the system does not tell.
int thread_nice() noexcept;

// From now on the calling thread, and those that it creates, make way at least so much. Never less than before, which
// the system may not allow.
void make_way(int nice) noexcept;

}  // namespace latebind::platform
