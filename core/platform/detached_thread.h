// Threads that are never joined.
#pragma once

#include <functional>

namespace latebind::platform {

// Runs `work`, which must not throw, on a thread of its own and returns at once. Not a detached std::thread:
// winpthreads, on which mingw-w64's is built, gives the slot of an ending detached thread to a new one too early, which
// then calls address 0. Throws std::system_error when the system cannot create a thread.
void run_detached(std::function<void()> work);

}  // namespace latebind::platform
