#include "core/cache/compile_cache.h"

#include <fmt/format.h>

#include <chrono>
#include <deque>
#include <exception>
#include <optional>
#include <utility>

#include "core/log.h"
#include "core/platform/thread.h"
#include "core/threads/background_work.h"
#include "core/threads/mutex.h"

namespace latebind::core {
namespace {

// How long background work waits, so that the first answers come first.
constexpr std::chrono::milliseconds kHeadStart{300};
// How long the destructor waits for background work.
constexpr std::chrono::seconds kWriterPatience{30};

}  // namespace

// One thread that runs pieces of work in order.
class CompileCache::Background : public std::enable_shared_from_this<Background> {
 public:
  void add(std::string what, std::function<Status()> work) {
    const LogHold hold;
    const MutexLock lock(mutex_);
    if (pending_.size() >= kPendingMax) {
      log(LogLevel::kWarning, fmt::format("{}: dropped, because too many writes are queued", what));
      return;
    }
    pending_.emplace_back(std::move(what), std::move(work));
    if (!running_) {
      try {
        if (thread_.joinable()) thread_.join();  // it has left its loop
        work_ = BackgroundWork::begin();
        if (!work_) {  // the process is ending
          pending_.clear();
          return;
        }
        thread_ = platform::Thread([self = shared_from_this()] { self->run(); });
        running_ = true;
      } catch (...) {
        work_.reset();
        pending_.clear();
        throw;
      }
    }
    changed_.notify_all();
  }

  void settle() {
    const MutexLock lock(mutex_);
    hurry_ = true;
    changed_.notify_all();
    changed_.wait(mutex_, [this]() LB_REQUIRES(mutex_) { return !running_; });
    hurry_ = false;
  }

  Status take_failure() {
    const MutexLock lock(mutex_);
    return std::exchange(failure_, Status());
  }

  void stop() {
    const LogHold hold;
    bool done = false;
    platform::Thread thread;
    {
      const MutexLock lock(mutex_);
      hurry_ = true;
      changed_.notify_all();
      done = changed_.wait_for(mutex_, kWriterPatience, [this]() LB_REQUIRES(mutex_) { return !running_; });
      if (!done) log(LogLevel::kWarning, "the compile cache is closed while a vendor's compiler is still running");
      pending_.clear();
      thread = std::move(thread_);
    }
    if (!thread.joinable()) return;
    // If the cache's last owner is the thread itself, it cannot join itself.
    if (done && !thread.is_this()) {
      thread.join();
    } else {
      thread.detach();
    }
  }

 private:
  void run() {
    const MutexLock lock(mutex_);
    changed_.wait_for(mutex_, kHeadStart, [this]() LB_REQUIRES(mutex_) { return hurry_; });
    while (!pending_.empty()) {
      auto [what, work] = std::move(pending_.front());
      pending_.pop_front();
      Status done;
      {
        const MutexUnlock unlocked(mutex_);
        done = do_it(what, work);
        work = nullptr;  // releases what the work holds before it is reported as done
      }
      if (failure_.ok()) failure_ = std::move(done);
    }
    running_ = false;
    work_.reset();
    changed_.notify_all();
  }

  static Status do_it(const std::string& what, const std::function<Status()>& work) noexcept {
    try {
      Status status = work();
      if (!status.ok()) log(LogLevel::kInfo, fmt::format("{}: {}", what, status.to_string()));
      return status;
    } catch (...) {
      Status status = Status::of_exception();
      log(LogLevel::kWarning, status.with_context("an entry is not kept in the compile cache").message());
      return status;
    }
  }

  Mutex mutex_;
  Condition changed_;
  std::deque<std::pair<std::string, std::function<Status()>>> pending_ LB_GUARDED_BY(mutex_);
  platform::Thread thread_ LB_GUARDED_BY(mutex_);
  std::optional<BackgroundWork> work_ LB_GUARDED_BY(mutex_);  // while the thread runs
  bool running_ LB_GUARDED_BY(mutex_) = false;
  bool hurry_ LB_GUARDED_BY(mutex_) = false;
  Status failure_ LB_GUARDED_BY(mutex_);  // the first one since take_failure()
};

CompileCache::CompileCache(std::filesystem::path folder, std::uint64_t bytes_max, std::chrono::nanoseconds settled)
    : store_(std::make_shared<CompileStore>(std::move(folder), bytes_max, settled)),
      background_(std::make_shared<Background>()) {}

CompileCache::~CompileCache() {
  background_->stop();
}

Status CompileCache::check_folder() {
  Status status = store_->check_folder();
  if (status.code() == StatusCode::kPermissionDenied && !refused_.exchange(true)) {
    log(LogLevel::kWarning, fmt::format("the cache of compiled models is not used: {}", status.message()));
  }
  return status;
}

void CompileCache::later(std::string what, std::function<Status()> work) noexcept {
  try {
    background_->add(std::move(what), std::move(work));
  } catch (...) {
    log(LogLevel::kWarning, Status::of_exception().with_context("an entry is not kept in the compile cache").message());
  }
}

void CompileCache::settle() {
  background_->settle();
}

Status CompileCache::take_failure() {
  return background_->take_failure();
}

}  // namespace latebind::core
