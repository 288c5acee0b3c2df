// Latch: what std::latch is, for every platform that the tests run on. libstdc++'s own loses wake-ups where the system
// has no futex: on Windows one in a few tests would hang.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <mutex>

namespace latebind::test {

class Latch {
 public:
  explicit Latch(std::ptrdiff_t expected) : left_(expected) {}
  Latch(const Latch&) = delete;
  Latch& operator=(const Latch&) = delete;

  void count_down() {
    const std::lock_guard lock(mutex_);
    // Under the lock: the waiting thread may destroy this as soon as it can take it.
    if (--left_ == 0) open_.notify_all();
  }
  void wait() {
    std::unique_lock lock(mutex_);
    open_.wait(lock, [this] { return left_ <= 0; });
  }
  void arrive_and_wait() {
    count_down();
    wait();
  }

 private:
  std::mutex mutex_;
  std::condition_variable open_;
  std::ptrdiff_t left_;
};

}  // namespace latebind::test
