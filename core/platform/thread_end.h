// What is done at the end of a thread. Not a destructor of a thread_local object: to have one called, a thread waits on
// Linux for the loader's lock, which whoever opens a library holds for as long as that takes.
#pragma once

#include <cstdint>

namespace latebind::platform {

// For static variables, and few of them; never destroyed. Any thread.
class ThreadEnd {
 public:
  // `action` gets what the thread has given, while thread_local variables without a destructor are still there.
  explicit ThreadEnd(void (*action)(void*)) noexcept;

  // Has it called with `given`, which is not null, when the calling thread ends; once a thread. False when the system
  // has no place to remember that.
  [[nodiscard]] bool call_with(void* given) const noexcept;

 private:
  void (*action_)(void*);
  // Where the system calls it.
  std::uint32_t key_ = 0;
  bool has_key_ = false;
};

}  // namespace latebind::platform
