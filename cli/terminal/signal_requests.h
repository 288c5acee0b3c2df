// SignalRequests: collects what signals request of a daemon, while it lives. One object per process; any thread may
// wait.
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <utility>

#include "core/platform/signal_watch.h"

namespace latebind::cli {

class SignalRequests {
 public:
  SignalRequests() {
    platform::set_signal_handler([this](platform::Signal signal) { return hear(signal); });
  }
  SignalRequests(const SignalRequests&) = delete;
  SignalRequests& operator=(const SignalRequests&) = delete;
  ~SignalRequests() { platform::set_signal_handler({}); }

  // From here on, a request to end waits for work in progress.
  void end_loading() {
    const std::lock_guard lock(mutex_);
    is_loading_ = false;
  }

  enum class Request { kNothing, kEnd, kReload };
  // Returns kNothing when the time is up.
  Request wait(std::chrono::microseconds time) {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, time, [this] { return ends_ || reloads_; });
    if (ends_) return Request::kEnd;
    return std::exchange(reloads_, false) ? Request::kReload : Request::kNothing;
  }

 private:
  bool hear(platform::Signal signal) {
    const std::lock_guard lock(mutex_);
    if (signal == platform::Signal::kHangup) {
      reloads_ = true;
    } else if (is_loading_ || std::exchange(ends_, true)) {
      // Nothing has been accepted yet, and compilation cannot be interrupted; a second signal ends the process at once
      // in any case.
      return false;
    }
    changed_.notify_all();
    return true;
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  // Guarded by mutex_.
  bool is_loading_ = true;
  bool ends_ = false;
  bool reloads_ = false;
};

}  // namespace latebind::cli
