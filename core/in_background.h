// Work that goes on beside its caller, once, and is waited for.
//
// Source of the thread: std::async. Any thread.
#pragma once

#include <exception>
#include <future>
#include <utility>

namespace latebind::core {

// On a thread of its own, or on demand, by whoever asks for the result, when none can be created. What `work` throws is
// thrown there. The future waits for the work when it is destroyed.
template <class Work>
[[nodiscard]] auto in_background(Work work) -> std::future<decltype(work())> {
  try {
    return std::async(std::launch::async, work);
  } catch (const std::exception&) {  // no thread, or no memory for one
    return std::async(std::launch::deferred, std::move(work));
  }
}

}  // namespace latebind::core
