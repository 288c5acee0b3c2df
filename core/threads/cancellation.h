// Cancellation: lets one thread ask others to stop what they are doing.
//
// A value; copies share one state. A default-constructed Cancellation can never be requested and costs nothing.
// std::stop_token is not used, because on systems without a futex libstdc++ waits for a running callback in a way that
// loses wake-ups.
//
// All functions may be called from any thread, but not from a signal handler.
#pragma once

#include <atomic>
#include <functional>
#include <memory>

#include "core/threads/mutex.h"

namespace latebind::core {

class Cancellation {
 public:
  Cancellation() = default;
  // Returns a Cancellation that can be requested.
  [[nodiscard]] static Cancellation create();
  // Returns a Cancellation that is also requested when `asked(context)` says so. It is for code that looks at
  // is_requested() now and then: nobody is told of the change, so a Watch may never be called. `context` must live as
  // long as the copies.
  [[nodiscard]] static Cancellation polled(bool (*asked)(const void* context), const void* context);

  // Requests cancellation, which cannot be undone. A second call, or a call on an object without state, does nothing.
  void request() const;
  [[nodiscard]] bool is_requested() const {
    return state_ != nullptr && (state_->requested.load(std::memory_order_acquire) ||
                                 (state_->asked != nullptr && state_->asked(state_->context)));
  }
  [[nodiscard]] bool can_be_requested() const { return state_ != nullptr; }

  class Watch;

 private:
  struct State {
    std::atomic<bool> requested{false};
    bool (*asked)(const void* context) = nullptr;
    const void* context = nullptr;
    Mutex mutex;
    Watch* first LB_GUARDED_BY(mutex) = nullptr;
  };
  std::shared_ptr<State> state_;
};

// Calls `action` once when cancellation is requested: on the requesting thread, or at once on the constructing thread
// if it was requested already. When the destructor returns, the action has ended or will never run. An action must be
// short, must not throw and must not use this cancellation.
class Cancellation::Watch {
 public:
  Watch(const Cancellation& cancellation, std::function<void()> action);
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;
  ~Watch();

 private:
  friend class Cancellation;
  const std::shared_ptr<State> state_;
  const std::function<void()> action_;
  // Guarded by State::mutex.
  Watch* before_ = nullptr;
  Watch* after_ = nullptr;
};

}  // namespace latebind::core
