#include "core/threads/abandonable_call.h"

#include <fmt/format.h>

#include <system_error>
#include <utility>

#include "core/platform/detached_thread.h"
#include "core/platform/process_generation.h"

namespace latebind::core {

// The threads of this process that make calls. Never destroyed, because threads may outlive main(). A child made by
// fork() has none of the threads, and perhaps a lock that will never be released, so it starts with a new object.
//
// The idea: idle threads form a list of objects on their own stacks; begin() hands a call to one of them or starts a
// thread. Each thread that has finished a call first serves the queue of stop requests, and some threads are reserved
// for them, so stopping rarely waits.
class AbandonableCall::Threads {
 public:
  static Threads& instance() noexcept {
    static platform::PerProcess<Threads> current;
    return current.get();
  }

  Status begin(std::shared_ptr<AbandonableCall> call) {
    {
      const MutexLock lock(mutex_);
      Idle* const thread = calls_ < kMax ? take_idle() : nullptr;
      if (thread == nullptr && (calls_ >= kMax || threads_ >= kThreadsMax)) {
        return Status(StatusCode::kBusy, fmt::format("{} calls into vendors' libraries are already running", kMax));
      }
      ++calls_;
      if (thread != nullptr) {
        thread->call = std::move(call);
        return {};
      }
      ++threads_;
    }
    try {
      platform::run_detached([this, call = std::move(call)]() mutable { serve(std::move(call)); });
    } catch (const std::system_error& error) {
      leave(1);
      return Status(StatusCode::kBusy,
                    std::string("the system cannot start a thread to call a vendor: ") + error.what());
    } catch (...) {
      leave(1);
      throw;
    }
    return {};
  }

  // Makes a thread call the call's `stop`. If no thread is available, the first one that becomes idle does it.
  void stop(std::shared_ptr<AbandonableCall> call) noexcept {
    {
      const MutexLock lock(mutex_);
      AbandonableCall* const last = last_to_stop_;
      last_to_stop_ = call.get();
      (last != nullptr ? last->next_to_stop_ : first_to_stop_) = std::move(call);
      if (take_idle() != nullptr) return;
      if (threads_ >= kThreadsMax) return;
      ++threads_;
    }
    try {
      platform::run_detached([this] { serve(nullptr); });
    } catch (...) {  // no thread, or no memory for one
      leave(0);
    }
  }

 private:
  static constexpr std::size_t kThreadsMax = kMax + kStopsMax;
  // How long a thread waits for the next call before it ends.
  static constexpr std::chrono::seconds kPatience{5};

  // An idle thread, on its own stack.
  struct Idle {
    Condition wake;
    bool wanted = false;  // there is a call for it, or one to stop
    std::shared_ptr<AbandonableCall> call;
    Idle* next = nullptr;
  };

  // Wakes an idle thread, if there is one.
  Idle* take_idle() LB_REQUIRES(mutex_) {
    Idle* const thread = idle_;
    if (thread == nullptr) return nullptr;
    idle_ = thread->next;
    thread->wanted = true;
    thread->wake.notify_one();
    return thread;
  }

  void call_stops() LB_REQUIRES(mutex_) {
    while (first_to_stop_ != nullptr) {
      std::shared_ptr<AbandonableCall> call = std::move(first_to_stop_);
      first_to_stop_ = std::move(call->next_to_stop_);
      if (first_to_stop_ == nullptr) last_to_stop_ = nullptr;
      const MutexUnlock unlocked(mutex_);
      call->stop();
      call.reset();
    }
  }

  void serve(std::shared_ptr<AbandonableCall> call) {
    for (Idle self;;) {
      const std::size_t served = call ? 1 : 0;
      if (call) call->run();
      call.reset();
      const MutexLock lock(mutex_);
      calls_ -= served;
      call_stops();
      self.wanted = false;
      self.next = std::exchange(idle_, &self);
      if (!self.wake.wait_for(mutex_, kPatience, [&self] { return self.wanted; })) {
        Idle** place = &idle_;
        while (*place != &self)
          place = &(*place)->next;
        *place = self.next;
        --threads_;
        return;
      }
      call = std::move(self.call);
    }
  }

  void leave(std::size_t calls) {
    const MutexLock lock(mutex_);
    --threads_;
    calls_ -= calls;
  }

  Mutex mutex_;
  // The last thread to become idle is the first to be used, because its caches are warm; the others end.
  Idle* idle_ LB_GUARDED_BY(mutex_) = nullptr;
  std::size_t threads_ LB_GUARDED_BY(mutex_) = 0;
  std::size_t calls_ LB_GUARDED_BY(mutex_) = 0;  // in progress
  std::shared_ptr<AbandonableCall> first_to_stop_ LB_GUARDED_BY(mutex_);
  AbandonableCall* last_to_stop_ LB_GUARDED_BY(mutex_) = nullptr;
};

AbandonableCall::AbandonableCall(std::function<Status()> work, std::function<void()> stop)
    : work_(std::move(work)), stop_(std::move(stop)) {}

Status AbandonableCall::start(const std::shared_ptr<AbandonableCall>& call) {
  call->counted_ = BackgroundWork::begin();
  if (!call->counted_) return ending_error();
  return Threads::instance().begin(call);
}

void AbandonableCall::run() {
  Status status;
  try {
    status = work_();
  } catch (...) {
    status = Status::of_exception().with_context("calling the vendor's library");
  }
  work_ = nullptr;
  {
    std::function<void()> unused;
    const MutexLock lock(mutex_);
    unused.swap(stop_);
  }
  counted_.reset();
  const MutexLock lock(mutex_);
  status_ = std::move(status);
  returned_ = true;
  if (abandoned_ && !stopping_) on_released();
  changed_.notify_all();
}

// Called on another thread than run().
void AbandonableCall::stop() {
  std::function<void()> stop;
  std::optional<BackgroundWork> counted;
  {
    const MutexLock lock(mutex_);
    if (!stop_) return;  // the call has returned
    counted = BackgroundWork::begin();
    if (!counted) return;
    stop.swap(stop_);
    stopping_ = true;
  }
  try {
    stop();
  } catch (...) {
    // No one waits for it, because the call is abandoned already.
  }
  stop = nullptr;
  const MutexLock lock(mutex_);
  stopping_ = false;
  if (returned_) on_released();
}

bool AbandonableCall::wait(std::optional<Clock::time_point> until, const Cancellation& cancellation) {
  // Constructed before the lock, because the action may be called at once, and destroyed after it.
  const Cancellation::Watch wake(cancellation, [this] {
    const MutexLock lock(mutex_);
    changed_.notify_all();
  });
  const auto is_over = [this, &cancellation]() LB_REQUIRES(mutex_) { return returned_ || cancellation.is_requested(); };
  const MutexLock lock(mutex_);
  if (until) {
    (void)changed_.wait_until(mutex_, *until, is_over);
  } else {
    changed_.wait(mutex_, is_over);
  }
  return returned_;
}

bool AbandonableCall::has_returned() const {
  const MutexLock lock(mutex_);
  return returned_;
}

Status AbandonableCall::status() const {
  const MutexLock lock(mutex_);
  return status_;
}

bool AbandonableCall::abandon() {
  {
    const MutexLock lock(mutex_);
    if (returned_) return false;
    if (std::exchange(abandoned_, true)) return true;
    on_abandoned();
    if (!stop_) return true;
  }
  Threads::instance().stop(shared_from_this());
  return true;
}

}  // namespace latebind::core
