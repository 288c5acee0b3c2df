// Work that goes on beside its caller, once, and is waited for. Any thread.
#pragma once

#include <exception>
#include <future>
#include <memory>
#include <utility>

#include "core/platform/thread.h"

namespace latebind::core {

// What comes of it. Waits for the work when it is destroyed.
template <class Outcome>
class InBackground {
 public:
  // Of none.
  InBackground() = default;
  InBackground(std::future<Outcome> outcome, platform::Thread thread)
      : outcome_(std::move(outcome)), thread_(std::move(thread)) {}
  InBackground(InBackground&&) noexcept = default;
  // This must be of none.
  InBackground& operator=(InBackground&&) noexcept = default;
  ~InBackground() {
    if (thread_.joinable()) thread_.join();
  }

  // Whether there is an outcome to get, which is there once.
  [[nodiscard]] bool valid() const { return outcome_.valid(); }
  // Throws what the work throws.
  Outcome get() { return outcome_.get(); }

 private:
  std::future<Outcome> outcome_;
  platform::Thread thread_;
};

// On a thread of its own, or on demand, by whoever asks for the result, when none can be created.
template <class Work>
[[nodiscard]] auto in_background(Work work) -> InBackground<decltype(work())> {
  using Outcome = decltype(work());
  try {
    const auto task = std::make_shared<std::packaged_task<Outcome()>>(work);
    auto outcome = task->get_future();
    platform::Thread thread([task] { (*task)(); });
    return {std::move(outcome), std::move(thread)};
  } catch (const std::exception&) {  // no thread, or no memory for one
    return {std::async(std::launch::deferred, std::move(work)), {}};
  }
}

}  // namespace latebind::core
