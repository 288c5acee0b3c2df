// How much of a processor a thread has used.
#pragma once

#include <chrono>

namespace latebind::platform {

// Of the calling thread, since it began; in coarse steps (16 ms) on Windows.
std::chrono::nanoseconds thread_time() noexcept;

}  // namespace latebind::platform
