#include "backends/onnxruntime/watchdog.h"

#include <system_error>

namespace latebind::onnxruntime {

Watchdog::~Watchdog() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
}

core::Result<Watchdog::Guard> Watchdog::arm(Clock::time_point deadline, Action action) {
  const std::lock_guard lock(mutex_);
  if (!thread_.joinable()) {
    try {
      thread_ = std::thread([this] { serve(); });
    } catch (const std::system_error& error) {
      return core::Status(core::StatusCode::kBusy,
                          std::string("the system gives no thread to watch over a deadline: ") + error.what());
    }
  }
  const Guard::Key key{deadline, next_number_++};
  const bool is_first = armed_.empty() || key < armed_.begin()->first;
  armed_.emplace(key, std::move(action));
  if (is_first) changed_.notify_all();
  return Guard(this, key);
}

bool Watchdog::disarm(const Guard::Key& key) {
  // The action runs under this lock, so that it is over when we have it.
  const std::lock_guard lock(mutex_);
  return armed_.erase(key) == 0;
}

void Watchdog::serve() {
  std::unique_lock lock(mutex_);
  while (!stopping_) {
    if (armed_.empty()) {
      changed_.wait(lock);
      continue;
    }
    const Clock::time_point due = armed_.begin()->first.first;
    if (Clock::now() < due) {
      changed_.wait_until(lock, due);
      continue;
    }
    const Action action = std::move(armed_.begin()->second);
    armed_.erase(armed_.begin());
    action();
  }
}

}  // namespace latebind::onnxruntime
