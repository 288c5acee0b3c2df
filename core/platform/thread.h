// Thread: one with room for what Latebind and the vendors call on it, however little the process was started with.
//
// A std::thread has the room that the system gives by default. On Linux that is what `ulimit -s` said when the process
// was started, which may be a few pages; what comes after the last one ends the process.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>

namespace latebind::platform {

// What a thread has for its calls at least, in bytes. Addresses alone: memory is taken when it is touched.
inline constexpr std::size_t kThreadRoom = std::size_t{8} << 20;

// As a std::thread: a handle that one thread at a time may use, and has to join or detach.
class Thread {
 public:
  // None.
  Thread() noexcept;
  // Calls it, which must not throw, on a thread of its own. Throws std::system_error where the system has none left,
  // and std::bad_alloc.
  explicit Thread(std::function<void()> work);
  Thread(Thread&& other) noexcept;
  // This must be none.
  Thread& operator=(Thread&& other) noexcept;
  ~Thread();

  // Whether it is one that was neither joined nor detached.
  [[nodiscard]] bool joinable() const noexcept { return system_ != nullptr; }
  // Returns when the work is done.
  void join();
  void detach();
  // Whether it is the calling one.
  [[nodiscard]] bool is_this() const noexcept;

 private:
  struct System;

  std::unique_ptr<System> system_;  // null: none
};

// For a program's main(): calls it on this thread, the only one of the process, or, where that one has too little room,
// on a Thread, which gets the signals; all other threads of the process have as much room, then. What it returns.
[[nodiscard]] int call_with_room(const std::function<int()>& work);

}  // namespace latebind::platform
