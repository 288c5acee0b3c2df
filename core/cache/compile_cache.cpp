#include "core/cache/compile_cache.h"

#include <fmt/format.h>

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/log.h"
#include "core/threads/background_work.h"
#include "core/threads/bounded_worker.h"
#include "core/threads/mutex.h"

namespace latebind::core {
namespace {

// How long background work waits, so that the first answers come first.
constexpr std::chrono::milliseconds kHeadStart{300};
// How long the destructor waits for background work.
constexpr std::chrono::seconds kWriterPatience{30};

}  // namespace

// Writes entries one after the other, on a thread that exists while entries wait.
class CompileCache::Background {
 public:
  void add(std::string what, std::function<Status()> work) {
    auto counted = BackgroundWork::begin();
    if (!counted) return;  // the process is ending
    Item item{std::move(what), std::move(work), *std::move(counted)};
    const auto added = worker_.add(item);
    if (added == Worker::Added::kYes) return;
    log(LogLevel::kWarning,
        fmt::format("{}: dropped, because {}", item.what,
                    added == Worker::Added::kFull ? "too many writes are queued" : "the system cannot start a thread"));
  }

  void settle() { worker_.settle(); }

  Status take_failure() {
    const MutexLock lock(first_->mutex);
    return std::exchange(first_->failure, Status());
  }

  void stop() {
    if (worker_.end(kWriterPatience)) return;
    log(LogLevel::kWarning, "the compile cache is closed while a vendor's compiler is still running");
  }

 private:
  struct Item {
    std::string what;
    std::function<Status()> work;
    BackgroundWork counted;  // until the work is done
  };
  using Worker = BoundedWorker<Item>;
  struct First {
    Mutex mutex;
    Status failure LB_GUARDED_BY(mutex);  // the first one since take_failure()
  };

  static Status do_it(const Item& item) noexcept {
    try {
      Status status = item.work();
      if (!status.ok()) log(LogLevel::kInfo, fmt::format("{}: {}", item.what, status.to_string()));
      return status;
    } catch (...) {
      Status status = Status::of_exception();
      log(LogLevel::kWarning, status.with_context("an entry is not kept in the compile cache").message());
      return status;
    }
  }

  // Shared with the worker's thread, which may be left behind.
  const std::shared_ptr<First> first_ = std::make_shared<First>();
  Worker worker_{{.waiting_max = kPendingMax, .head_start = kHeadStart, .stays = false},
                 [first = first_](std::vector<Item>& items) {
                   Status done = do_it(items.front());
                   const MutexLock lock(first->mutex);
                   if (first->failure.ok()) first->failure = std::move(done);
                 }};
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
