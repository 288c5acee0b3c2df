#include "core/failover/prober.h"

#include <exception>
#include <utility>

#include "core/threads/background_work.h"

namespace latebind::core {
namespace {

// How long stop() waits for the thread. That thread leaves abandonable calls at once, but may be inside a call that it
// cannot abandon, such as releasing a vendor's object.
constexpr std::chrono::milliseconds kPatience{2'000};

// How long the thread waits before it continues after running out of memory.
constexpr std::chrono::milliseconds kAfterException{1'000};

}  // namespace

void Prober::wake(const std::shared_ptr<Tasks>& tasks) {
  const MutexLock lock(mutex_);
  if (is_stopped_) return;
  is_woken_ = true;
  if (!is_running_) {
    try {
      thread_ = platform::Thread([this, tasks] { run(*tasks); });
      is_running_ = true;
    } catch (const std::exception&) {
      return;  // the next call tries again
    }
  }
  changed_.notify_all();
}

void Prober::run(Tasks& tasks) {
  const MutexLock lock(mutex_);
  while (!is_stopped_) {
    is_woken_ = false;
    std::optional<Clock::time_point> next;
    bool is_ending = false;
    {
      const MutexUnlock unlocked(mutex_);
      try {
        const auto counted = BackgroundWork::begin();
        is_ending = !counted;
        if (counted) next = tasks.do_next_task();
      } catch (const std::exception&) {  // no memory at the moment
        next = Clock::now() + kAfterException;
      }
    }
    const auto is_due = [&]() LB_REQUIRES(mutex_) { return is_stopped_ || (is_woken_ && !is_ending); };
    if (next) {
      changed_.wait_until(mutex_, *next, is_due);
    } else {
      changed_.wait(mutex_, is_due);
    }
  }
  is_running_ = false;
  changed_.notify_all();
}

void Prober::stop() {
  platform::Thread thread;
  {
    const MutexLock lock(mutex_);
    is_stopped_ = true;
    changed_.notify_all();
    if (!thread_.joinable()) return;
    const bool has_ended = changed_.wait_for(mutex_, kPatience, [&]() LB_REQUIRES(mutex_) { return !is_running_; });
    thread = std::move(thread_);
    if (!has_ended) {
      thread.detach();
      return;
    }
  }
  thread.join();
}

}  // namespace latebind::core
