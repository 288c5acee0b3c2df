#include "backends/onnxruntime/one_at_a_time.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/log.h"

namespace latebind::onnxruntime {

using core::Result;
using core::Status;
using core::StatusCode;
using std::chrono::steady_clock;

bool OneAtATime::wait_until(steady_clock::time_point limit) {
  const core::MutexLock lock(mutex_);
  if (!changed_.wait_until(mutex_, limit, [this]() LB_REQUIRES(mutex_) { return !taken_; })) return false;
  taken_ = true;
  return true;
}

void OneAtATime::give_back() {
  for (;;) {
    std::vector<std::shared_ptr<void>> left;
    {
      const core::MutexLock lock(mutex_);
      left.swap(left_);
      if (left.empty()) taken_ = false;
    }
    if (left.empty()) break;
  }
  changed_.notify_one();
}

Result<OneAtATime::Turn> OneAtATime::take(const std::function<bool()>& is_enough) {
  // The interval of checks whether the turn is still wanted.
  constexpr std::chrono::milliseconds kLook{50};
  const auto end = steady_clock::now() + limits_.turn;
  while (!is_enough || !is_enough()) {
    const auto now = steady_clock::now();
    if (wait_until(is_enough ? std::min(end, now + kLook) : end)) return Turn(this);
    if (now < end) continue;
    return Status(StatusCode::kBusy,
                  fmt::format("no turn within {} s: the provider computes for one model at a time, and a call for "
                              "another model has not returned; try again, or restart the process if that call hangs",
                              std::chrono::duration<double>(limits_.turn).count()));
  }
  return Turn();
}

void OneAtATime::end(std::shared_ptr<void> session) {
  for (bool is_left = false; !is_left;) {
    if (wait_until(steady_clock::now() + limits_.end)) {
      const Turn turn(this);
      session.reset();
      return;
    }
    const core::MutexLock lock(mutex_);
    is_left = taken_;  // otherwise the turn has just been returned
    if (is_left) left_.push_back(std::move(session));
  }
  core::log(core::LogLevel::kWarning,
            "a session cannot be closed yet: its provider runs one call at a time, and another call has not returned");
}

}  // namespace latebind::onnxruntime
