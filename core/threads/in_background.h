// Runs one piece of work beside its caller, who waits for the result. Functions may be called from any thread.
#pragma once

#include <exception>
#include <future>
#include <memory>
#include <utility>

#include "core/platform/thread.h"

namespace latebind::core {

// The result of work in the background. It belongs to one thread, and its destructor waits for the work.
template <class Outcome>
class InBackground {
 public:
  // An empty object, without work.
  InBackground() = default;
  InBackground(std::future<Outcome> outcome, platform::Thread thread)
      : outcome_(std::move(outcome)), thread_(std::move(thread)) {}
  InBackground(InBackground&&) noexcept = default;
  // Requires that this object is empty.
  InBackground& operator=(InBackground&&) noexcept = default;
  ~InBackground() {
    if (thread_.joinable()) thread_.join();
  }

  // Whether get() may be called, which is possible once.
  [[nodiscard]] bool valid() const { return outcome_.valid(); }
  // Waits for the result and returns it. Throws what the work throws.
  Outcome get() { return outcome_.get(); }

 private:
  std::future<Outcome> outcome_;
  platform::Thread thread_;
};

// Starts `work` on a new thread. If no thread can be created, get() runs it instead.
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
