// A value that each thread has for itself, in a place of the system's. Not a thread_local object with a destructor: to
// have one called, a thread waits on Linux for the loader's lock, which whoever opens a library holds for as long as
// that takes; and winpthreads may free such objects before it calls their destructors.
#pragma once

#include <cstdint>

namespace latebind::platform {

// For static variables, and few of them; never destroyed. Any thread.
class ThreadSlot {
 public:
  // `end` gets the value of each thread that ends, on that thread, unless it is null. What it sets then stays, and may
  // be given to it again. Not called for the thread that calls exit().
  explicit ThreadSlot(void (*end)(void*)) noexcept;

  // The calling thread's; null at first.
  [[nodiscard]] void* value() const noexcept;
  // False when the system has no place for it.
  [[nodiscard]] bool set(void* value) const noexcept;

 private:
  // Where the system keeps the values.
  std::uint32_t key_ = 0;
  bool has_key_ = false;
};

}  // namespace latebind::platform
