// Cancellation: a request from one thread that others stop what they are doing.
//
// A value; copies share one state. A default-constructed one can never be requested, and costs nothing. Not
// std::stop_token: where the system has no futex, libstdc++'s waits for a running callback in a way that loses
// wake-ups.
//
// Any thread, but not a signal handler.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>

namespace latebind::core {

class Cancellation {
 public:
  Cancellation() = default;
  [[nodiscard]] static Cancellation create();

  // Cannot be undone. A second call, or one without state, does nothing.
  void request() const;
  [[nodiscard]] bool is_requested() const {
    return state_ != nullptr && state_->requested.load(std::memory_order_acquire);
  }
  [[nodiscard]] bool can_be_requested() const { return state_ != nullptr; }

  class Watch;

 private:
  struct State {
    std::atomic<bool> requested{false};
    std::mutex mutex;
    Watch* first = nullptr;  // guarded by mutex
  };
  std::shared_ptr<State> state_;
};

// While it lives, `action` is called once on request: on the requesting thread, or at once on this one when it was
// requested already. When the destructor returns, the action is over or will never run. An action must be short, must
// not throw, and must not use this cancellation.
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
