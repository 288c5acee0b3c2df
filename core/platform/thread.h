// Thread: a thread with enough stack for what Latebind and the vendors call on it, even if the process was started with
// little.
//
// A std::thread has the stack size that the system gives by default. On Linux that is what `ulimit -s` said when the
// process was started, which may be a few pages; a stack overflow ends the process.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>

namespace latebind::platform {

// The smallest stack of a Thread, in bytes. These are only addresses: memory is allocated when it is accessed.
inline constexpr std::size_t kThreadRoom = std::size_t{8} << 20;

// Like a std::thread, a handle that one thread at a time may use, and that has to be joined or detached.
class Thread {
 public:
  // A handle without a thread.
  Thread() noexcept;
  // Calls `work`, which must not throw, on a new thread. Throws std::system_error when the system has no thread left,
  // and std::bad_alloc.
  explicit Thread(std::function<void()> work);
  Thread(Thread&& other) noexcept;
  // Requires that this handle has no thread.
  Thread& operator=(Thread&& other) noexcept;
  ~Thread();

  // Whether the handle has a thread, which was neither joined nor detached.
  [[nodiscard]] bool joinable() const noexcept { return system_ != nullptr; }
  // Waits until the work is done.
  void join();
  void detach();
  // Whether this is the calling thread.
  [[nodiscard]] bool is_this() const noexcept;

 private:
  struct System;

  std::unique_ptr<System> system_;  // null without a thread
};

// For a program's main(): calls `work` on this thread, which must be the only one of the process, and returns its
// result. If this thread has too little stack, it calls `work` on a Thread, which then receives the signals; all later
// threads of the process then have enough stack, too.
[[nodiscard]] int call_with_room(const std::function<int()>& work);

}  // namespace latebind::platform
