// Threads that are never joined. May be called from any thread.
#pragma once

#include <functional>

namespace latebind::platform {

// Runs `work`, which must not throw, on a new thread and returns at once. Throws std::system_error when the system
// cannot create a thread. It does not use a detached std::thread, because mingw-w64's is built on winpthreads, which
// gives the slot of an ending detached thread to a new one too early; the new one then calls address 0.
void run_detached(std::function<void()> work);

}  // namespace latebind::platform
