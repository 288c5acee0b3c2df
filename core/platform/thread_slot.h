// A thread-specific value in a slot of the system's. Not a thread_local object with a destructor: on Linux a thread
// waits for the loader's lock before calling that, and the lock is held for as long as opening a library takes; and
// winpthreads may free such objects before it calls their destructors.
#pragma once

#include <cstdint>

namespace latebind::platform {

// For static variables, and few of them; never destroyed. Any thread.
class ThreadSlot {
 public:
  // `end` is called with the value of each thread that ends, on that thread, unless it is null. A value that it sets
  // then stays, and may be passed to it again. Not called for the thread that calls exit().
  explicit ThreadSlot(void (*end)(void*)) noexcept;

  // The calling thread's; null at first.
  [[nodiscard]] void* value() const noexcept;
  // False when the system has no memory for it.
  [[nodiscard]] bool set(void* value) const noexcept;

 private:
  // Where the system keeps the values.
  std::uint32_t key_ = 0;
  bool has_key_ = false;
};

}  // namespace latebind::platform
