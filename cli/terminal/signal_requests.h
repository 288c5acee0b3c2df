// SignalRequests: collects what signals request of a daemon, while it lives. One object per process; any thread may
// wait.
#pragma once

#include <chrono>
#include <utility>

#include "core/platform/signal_watch.h"
#include "core/threads/mutex.h"

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
    const core::MutexLock lock(mutex_);
    is_loading_ = false;
  }

  enum class Request { kNothing, kEnd, kReload };
  // Returns kNothing when the time is up.
  Request wait(std::chrono::microseconds time) {
    const core::MutexLock lock(mutex_);
    changed_.wait_for(mutex_, time, [this]() LB_REQUIRES(mutex_) { return ends_ || reloads_; });
    if (ends_) return Request::kEnd;
    return std::exchange(reloads_, false) ? Request::kReload : Request::kNothing;
  }

 private:
  bool hear(platform::Signal signal) {
    const core::MutexLock lock(mutex_);
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

  core::Mutex mutex_;
  core::Condition changed_;
  bool is_loading_ LB_GUARDED_BY(mutex_) = true;
  bool ends_ LB_GUARDED_BY(mutex_) = false;
  bool reloads_ LB_GUARDED_BY(mutex_) = false;
};

}  // namespace latebind::cli
