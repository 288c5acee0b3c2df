// Threads that nobody joins.
#pragma once

#include <functional>

namespace latebind::platform {

// Runs `work`, which must not throw, on a thread of its own and returns at once. std::thread is not detached for it:
// winpthreads, which mingw-w64's is made of, hands the place of a detached thread that ends to a new one too early, and
// that one finds nothing to do at address 0. Throws std::system_error when the system has no thread to give.
void run_detached(std::function<void()> work);

}  // namespace latebind::platform
