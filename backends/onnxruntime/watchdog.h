// Watchdog: does something at a deadline, unless told in time that it is not needed any more.
//
// One thread serves all deadlines; it is started by the first one. Thread-safe. Guards must be gone before the watchdog
// is.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <thread>
#include <utility>

#include "core/result.h"

namespace latebind::onnxruntime {

class Watchdog {
 public:
  using Clock = std::chrono::steady_clock;
  // Called on the watchdog's thread; must be short and must not call the watchdog.
  using Action = std::function<void()>;

  // While it lives, its action may be called, once. When disarm() returns, it is over or will never be.
  class Guard {
   public:
    Guard(Guard&& other) noexcept : watchdog_(std::exchange(other.watchdog_, nullptr)), key_(other.key_) {}
    Guard& operator=(Guard&&) = delete;
    ~Guard() { (void)disarm(); }
    // True, at the first call, when the action was called.
    bool disarm() {
      Watchdog* const watchdog = std::exchange(watchdog_, nullptr);
      return watchdog != nullptr && watchdog->disarm(key_);
    }

   private:
    friend class Watchdog;
    using Key = std::pair<Clock::time_point, std::uint64_t>;
    Guard(Watchdog* watchdog, Key key) : watchdog_(watchdog), key_(key) {}

    Watchdog* watchdog_;
    Key key_;
  };

  Watchdog() = default;
  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;
  ~Watchdog();

  // Fails when the system has no thread to give.
  [[nodiscard]] core::Result<Guard> arm(Clock::time_point deadline, Action action);

 private:
  bool disarm(const Guard::Key& key);
  void serve();

  std::mutex mutex_;
  std::condition_variable changed_;
  // Guarded by mutex_. What is in the map has not been called yet; the first is due first.
  std::map<Guard::Key, Action> armed_;
  std::uint64_t next_number_ = 0;
  bool stopping_ = false;
  std::thread thread_;
};

}  // namespace latebind::onnxruntime
