// Prober: the background thread of a PlacedModel. It does what is due, one thing after another, and sleeps otherwise.
//
// The thread starts when it is first needed. All functions may be called from any thread.
#pragma once

#include <chrono>
#include <memory>
#include <optional>

#include "core/platform/thread.h"
#include "core/threads/mutex.h"

namespace latebind::core {

class Prober {
 public:
  using Clock = std::chrono::steady_clock;
  // What the thread does.
  class Tasks {
   public:
    Tasks() = default;
    Tasks(const Tasks&) = delete;
    Tasks& operator=(const Tasks&) = delete;

    // Does one thing that is due. Returns when to call again, unless wake() is called earlier: a time that has come for
    // at once, std::nullopt for never. May call vendors, and may throw when memory runs out; it is called again later
    // then.
    virtual std::optional<Clock::time_point> do_next_task() = 0;

   protected:
    ~Tasks() = default;
  };

  Prober() = default;
  Prober(const Prober&) = delete;
  Prober& operator=(const Prober&) = delete;
  ~Prober() = default;

  // Makes the thread look for a task soon. Starts the thread if it does not run. The thread keeps `tasks` alive, which
  // own this object. Does nothing after stop(), or if no thread can be started: the next call tries again.
  void wake(const std::shared_ptr<Tasks>& tasks);
  // Ends the thread. Waits for a task that is in progress, but not long: a thread inside a vendor's call that does not
  // return ends when the call does. The caller has told the tasks to give up their calls.
  void stop();

 private:
  void run(Tasks& tasks);

  Mutex mutex_;
  Condition changed_;
  platform::Thread thread_ LB_GUARDED_BY(mutex_);
  bool is_running_ LB_GUARDED_BY(mutex_) = false;
  bool is_woken_ LB_GUARDED_BY(mutex_) = false;
  bool is_stopped_ LB_GUARDED_BY(mutex_) = false;
};

}  // namespace latebind::core
