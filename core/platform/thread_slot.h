// ThreadSlot: a thread-specific value in a slot of the system. It replaces thread_local objects with a destructor: on
// Linux a thread waits for the loader's lock before it calls that destructor, and the lock is held for as long as
// opening a library takes; winpthreads may free such objects before it calls their destructors.
#pragma once

#include <cstdint>

namespace latebind::platform {

// For a few static variables. It is never destroyed, and may be used from any thread.
class ThreadSlot {
 public:
  // `end` is called with the value of each ending thread, on that thread, unless the value is null. It may set a new
  // value, which may be passed to it again. It is not called for the thread that calls exit().
  explicit ThreadSlot(void (*end)(void*)) noexcept;

  // Returns the calling thread's value; null at first.
  [[nodiscard]] void* value() const noexcept;
  // Sets the calling thread's value. Returns false when the system has no memory for it.
  [[nodiscard]] bool set(void* value) const noexcept;

 private:
  // The system's key of the values.
  std::uint32_t key_ = 0;
  bool has_key_ = false;
};

}  // namespace latebind::platform
