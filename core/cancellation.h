// Cancellation: a word from one thread that others should stop what they do.
//
// A value; copies share one state. As it is made by default there is nobody who could say the word, and it costs
// nothing. Not std::stop_token: libstdc++'s waits for a callback that runs with what loses wake-ups where the system
// has no futex.
//
// Any thread, no signal handler.
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

  // Once and for all. Nothing happens at the second call, nor where there is no state.
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

// While it lives, `action` is called once when the word is said: on that thread, or at once on this one when it has
// been said already. When the destructor returns, the action is over or will never be. An action must be short, not
// throw, and have nothing to do with this cancellation.
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
