// AbandonableCall: a call that its caller can leave before it returns.
//
// A call into a library of others cannot be taken back, and some calls never return. Therefore such a call is made on
// one of Latebind's threads and owns everything it touches. A caller that no longer waits leaves. The call continues,
// keeps alive what it needs, and releases it on its own thread when it returns.
//
// Invariants: no more than kMax calls are in progress in this process, abandoned ones included. `work` has been
// destroyed when the call counts as returned. `stop` is called at most once, only after abandon(), and never begins
// after `work` has returned. on_abandoned() is called at most once, and then on_released() once, after both `work` and
// `stop` have returned.
//
// The process shares a few threads for this. They are kept for some seconds when idle and never joined. Any thread may
// call the functions.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>

#include "core/status.h"
#include "core/threads/background_work.h"
#include "core/threads/cancellation.h"
#include "core/threads/mutex.h"

namespace latebind::core {

class AbandonableCall : public std::enable_shared_from_this<AbandonableCall> {
 public:
  using Clock = std::chrono::steady_clock;

  static constexpr std::size_t kMax = 256;
  // Threads beyond those of kMax calls, so that `stop` can be called even when all of those are taken.
  static constexpr std::size_t kStopsMax = 16;

  // `work` owns what it uses. If it throws, the exception becomes the call's status. `stop` asks for the end of `work`;
  // it also owns what it uses, and may block.
  explicit AbandonableCall(std::function<Status()> work, std::function<void()> stop = nullptr);
  AbandonableCall(const AbandonableCall&) = delete;
  AbandonableCall& operator=(const AbandonableCall&) = delete;
  virtual ~AbandonableCall() = default;

  // Starts the call, once. Returns kBusy when kMax calls are in progress already, when the system has no thread left,
  // or when the process is ending.
  [[nodiscard]] static Status start(const std::shared_ptr<AbandonableCall>& call);

  // Waits until the call has returned, `until` has passed or cancellation is requested. Returns whether the call has
  // returned. Any number of threads may wait.
  [[nodiscard]] bool wait(std::optional<Clock::time_point> until, const Cancellation& cancellation);
  [[nodiscard]] bool has_returned() const;
  // Returns the result of `work` once it has returned.
  [[nodiscard]] Status status() const;
  [[nodiscard]] Clock::time_point started() const { return started_; }

  // Leaves the call. Its `stop` runs on another of Latebind's threads, at once or as soon as one is free, unless the
  // call returns before that. Returns false, and does nothing, if the call has returned already.
  [[nodiscard]] bool abandon();

 protected:
  // Called without waiting for anything, and must not throw.
  virtual void on_abandoned() LB_REQUIRES(mutex_) {}
  virtual void on_released() LB_REQUIRES(mutex_) {}

  mutable Mutex mutex_;

 private:
  class Threads;

  void run();
  void stop();

  const Clock::time_point started_ = Clock::now();
  // Used only by the call's thread.
  std::function<Status()> work_;
  std::optional<BackgroundWork> counted_;  // until the call has returned
  Condition changed_;
  bool returned_ LB_GUARDED_BY(mutex_) = false;
  bool abandoned_ LB_GUARDED_BY(mutex_) = false;
  bool stopping_ LB_GUARDED_BY(mutex_) = false;  // `stop` is being called
  Status status_ LB_GUARDED_BY(mutex_);
  std::function<void()> stop_ LB_GUARDED_BY(mutex_);  // empty once it may no longer be called
  std::shared_ptr<AbandonableCall> next_to_stop_;     // guarded by the mutex of Threads
};

}  // namespace latebind::core
