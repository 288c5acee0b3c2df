// Protects a thread from pthread_cancel(), which ends a thread by unwinding it in the middle of its work. The unwinding
// must not pass through code that does not throw, and cannot be caught.
#pragma once

namespace latebind::platform {

// While it lives, its thread cannot be cancelled; afterwards the previous state holds again. Does nothing on systems
// without pthread_cancel(). Used on the thread that creates it.
class NoThreadCancellation {
 public:
  NoThreadCancellation() noexcept;
  ~NoThreadCancellation();
  NoThreadCancellation(const NoThreadCancellation&) = delete;
  NoThreadCancellation& operator=(const NoThreadCancellation&) = delete;

 private:
  [[maybe_unused]] int before_ = 0;
};

}  // namespace latebind::platform
