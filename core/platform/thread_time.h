// The processor time of a thread.
#pragma once

#include <chrono>

namespace latebind::platform {

// Returns the time that the calling thread has computed since it began; in coarse steps (16 ms) on Windows.
std::chrono::nanoseconds thread_time() noexcept;

}  // namespace latebind::platform
