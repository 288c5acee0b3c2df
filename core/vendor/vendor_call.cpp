#include "core/vendor/vendor_call.h"

#include <fmt/format.h>

#include <atomic>
#include <system_error>
#include <utility>

#include "core/platform/detached_thread.h"
#include "core/platform/process_generation.h"

namespace latebind::core {

using Clock = VendorCall::Clock;

// The threads of this process that call vendors, and the calls that were abandoned. Never destroyed, because threads
// may outlive main(). A child made by fork() has none of the threads, and perhaps a lock that will never be released,
// so it starts with a new object.
//
// The idea: idle threads form a list of objects on their own stacks; begin() hands a call to one of them or starts a
// thread. Each thread that has finished a call first serves the queue of stop requests, and some threads are reserved
// for them, so stopping rarely waits. Abandoned calls form a list as well, so that abandoning needs no memory.
class VendorThreads {
 public:
  static VendorThreads& instance() noexcept {
    static platform::PerProcess<VendorThreads> current;
    return current.get();
  }

  Status begin(std::shared_ptr<VendorCall> call) {
    {
      const MutexLock lock(mutex_);
      Idle* const thread = calls_ < VendorCall::kMax ? take_idle() : nullptr;
      if (thread == nullptr && (calls_ >= VendorCall::kMax || threads_ >= kThreadsMax)) {
        return Status(StatusCode::kBusy,
                      fmt::format("{} calls into vendors' libraries are already running", VendorCall::kMax));
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
  void stop(std::shared_ptr<VendorCall> call) noexcept {
    {
      const MutexLock lock(mutex_);
      VendorCall* const last = last_to_stop_;
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

  void add_given_up(VendorCall& call, std::optional<Clock::time_point> hangs_from) {
    const MutexLock lock(given_up_mutex_);
    call.hangs_from_ = hangs_from;
    call.after_ = given_up_;
    if (given_up_ != nullptr) given_up_->before_ = &call;
    given_up_ = &call;
    given_up_count_.fetch_add(1, std::memory_order_relaxed);
  }

  void remove_given_up(VendorCall& call) {
    const MutexLock lock(given_up_mutex_);
    (call.before_ != nullptr ? call.before_->after_ : given_up_) = call.after_;
    if (call.after_ != nullptr) call.after_->before_ = call.before_;
    given_up_count_.fetch_sub(1, std::memory_order_relaxed);
  }

  template <class Wanted>
  static std::size_t count_given_up(std::string_view where, const Wanted& wanted) {
    VendorThreads& threads = instance();
    // Makes a run cost next to nothing while no call is abandoned.
    if (threads.given_up_count_.load(std::memory_order_relaxed) == 0) return 0;
    const MutexLock lock(threads.given_up_mutex_);
    std::size_t sum = 0;
    for (const VendorCall* call = threads.given_up_; call != nullptr; call = call->after_)
      sum += (where.empty() || call->where_ == where) && wanted(*call) ? 1 : 0;
    return sum;
  }

  static bool is_hung(const VendorCall& call) { return call.hangs_from_ && *call.hangs_from_ <= Clock::now(); }

 private:
  static constexpr std::size_t kThreadsMax = VendorCall::kMax + VendorCall::kStopsMax;
  // How long a thread waits for the next call before it ends.
  static constexpr std::chrono::seconds kPatience{5};

  // An idle thread, on its own stack.
  struct Idle {
    Condition wake;
    bool wanted = false;  // there is a call for it, or one to stop
    std::shared_ptr<VendorCall> call;
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

  void stop_those_given_up() LB_REQUIRES(mutex_) {
    while (first_to_stop_ != nullptr) {
      std::shared_ptr<VendorCall> call = std::move(first_to_stop_);
      first_to_stop_ = std::move(call->next_to_stop_);
      if (first_to_stop_ == nullptr) last_to_stop_ = nullptr;
      const MutexUnlock unlocked(mutex_);
      call->stop();
      call.reset();
    }
  }

  void serve(std::shared_ptr<VendorCall> call) {
    for (Idle self;;) {
      const std::size_t served = call ? 1 : 0;
      if (call) call->run();
      call.reset();
      const MutexLock lock(mutex_);
      calls_ -= served;
      stop_those_given_up();
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
  std::shared_ptr<VendorCall> first_to_stop_ LB_GUARDED_BY(mutex_);
  VendorCall* last_to_stop_ LB_GUARDED_BY(mutex_) = nullptr;

  std::atomic<std::size_t> given_up_count_{0};
  Mutex given_up_mutex_;
  VendorCall* given_up_ LB_GUARDED_BY(given_up_mutex_) = nullptr;  // each call is kept alive by its thread
};

Result<std::shared_ptr<VendorCall>> VendorCall::start(std::string where, std::function<Status()> work,
                                                      std::function<void()> stop) {
  std::shared_ptr<VendorCall> call(new VendorCall(std::move(where), std::move(work), std::move(stop)));
  call->counted_ = BackgroundWork::begin();
  if (!call->counted_) return ending_error();
  LB_RETURN_IF_ERROR(VendorThreads::instance().begin(call));
  return call;
}

void VendorCall::run() {
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
  if (given_up_ && !stopping_) VendorThreads::instance().remove_given_up(*this);
  changed_.notify_all();
}

// Called on another thread than run().
void VendorCall::stop() {
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
  if (returned_) VendorThreads::instance().remove_given_up(*this);
}

VendorCall::End VendorCall::wait(const RunOptions& options) {
  auto until = options.deadline;
  End otherwise = End::kDeadline;
  if (const auto limit = limit_after(started_, options.run_timeout); limit && (!until || *limit < *until)) {
    until = limit;
    otherwise = End::kTimeout;
  }
  // Constructed before the lock, because the action may be called at once, and destroyed after it.
  const Cancellation::Watch wake(options.cancellation, [this] {
    const MutexLock lock(mutex_);
    changed_.notify_all();
  });
  const auto is_over = [&]() LB_REQUIRES(mutex_) { return returned_ || options.cancellation.is_requested(); };
  const MutexLock lock(mutex_);
  if (until) {
    (void)changed_.wait_until(mutex_, *until, is_over);
  } else {
    changed_.wait(mutex_, is_over);
  }
  if (returned_) return End::kReturned;
  return options.cancellation.is_requested() ? End::kCancelled : otherwise;
}

bool VendorCall::has_returned() const {
  const MutexLock lock(mutex_);
  return returned_;
}

Status VendorCall::status() const {
  const MutexLock lock(mutex_);
  return status_;
}

bool VendorCall::give_up(std::optional<std::chrono::milliseconds> timeout) {
  {
    const MutexLock lock(mutex_);
    if (returned_) return false;
    given_up_ = true;
    VendorThreads::instance().add_given_up(*this, limit_after(started_, timeout));
    if (!stop_) return true;
  }
  VendorThreads::instance().stop(shared_from_this());
  return true;
}

Status call_until(const RunOptions& options, const std::string& where, std::function<Status()> work,
                  std::function<void()> stop) {
  LB_ASSIGN_OR_RETURN(const auto call, VendorCall::start(where, std::move(work), std::move(stop)));
  const auto end = call->wait(options);
  if (end == VendorCall::End::kReturned || !call->give_up(options.run_timeout)) return call->status();
  switch (end) {
    case VendorCall::End::kCancelled:
      return Status(StatusCode::kCancelled, fmt::format("the call of {} was cancelled", where));
    case VendorCall::End::kTimeout:
      return Status(StatusCode::kDeviceFailed,
                    fmt::format("hung: {} did not finish within {} ms", where, options.run_timeout->count()));
    default:
      return Status(StatusCode::kDeadlineExceeded, fmt::format("{} did not finish before the deadline", where));
  }
}

bool is_of_the_call(const Status& status) {
  return status.code() == StatusCode::kDeadlineExceeded || status.code() == StatusCode::kCancelled ||
         status.code() == StatusCode::kBusy;
}

std::size_t given_up_calls(std::string_view where) {
  return VendorThreads::count_given_up(where, [](const VendorCall&) { return true; });
}

std::size_t hung_calls(std::string_view where) {
  return VendorThreads::count_given_up(where, VendorThreads::is_hung);
}

Status check_not_hung(std::string_view where, std::string_view refused) {
  const std::size_t hung = hung_calls(where);
  if (hung < kHungCallsMax) return {};
  return Status(
      StatusCode::kDeviceFailed,
      fmt::format("{} runs on {} have not returned; it gets no other {} until they do", hung, where, refused));
}

}  // namespace latebind::core
