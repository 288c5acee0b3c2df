// Limits: decides whether a run must end early, and keeps the reason. Any thread may call it.
#pragma once

#include <fmt/format.h>

#include <atomic>
#include <chrono>
#include <optional>
#include <utility>

#include "core/backend/executable.h"
#include "core/status.h"
#include "core/threads/mutex.h"

namespace latebind::native {

class Limits {
 public:
  explicit Limits(const core::RunOptions& options)
      : options_(options), timeout_(core::limit_after(std::chrono::steady_clock::now(), options.run_timeout)) {}

  [[nodiscard]] bool are_reached() noexcept {
    if (is_over_.load(std::memory_order_relaxed)) return true;
    if (!options_.is_bounded() && !options_.nobody_waits.can_be_requested()) return false;
    return end_by([this] { return check(); });
  }
  // Ends the run if make() returns an error, which becomes the reason unless there is one already. Returns whether it
  // was an error.
  template <class Make>
  bool end_by(const Make& make) noexcept {
    core::Status status;
    try {
      status = make();
    } catch (...) {
      status = core::Status::of_exception();
    }
    if (status.ok()) return false;
    const core::MutexLock lock(mutex_);
    if (status_.ok()) status_ = std::move(status);
    is_over_.store(true, std::memory_order_relaxed);
    return true;
  }
  [[nodiscard]] core::Status status() {
    const core::MutexLock lock(mutex_);
    return status_;
  }

 private:
  [[nodiscard]] core::Status check() const {
    LB_RETURN_IF_ERROR(core::check_time(options_));
    if (options_.nobody_waits.is_requested())
      return {core::StatusCode::kCancelled, "no caller waits for this run any more"};
    if (!timeout_ || *timeout_ > std::chrono::steady_clock::now()) return {};
    return {core::StatusCode::kDeviceFailed,
            fmt::format("hung: native:CPU did not finish within {} ms", options_.run_timeout->count())};
  }

  const core::RunOptions& options_;
  const std::optional<std::chrono::steady_clock::time_point> timeout_;
  std::atomic<bool> is_over_{false};
  core::Mutex mutex_;
  core::Status status_ LB_GUARDED_BY(mutex_);
};

}  // namespace latebind::native
