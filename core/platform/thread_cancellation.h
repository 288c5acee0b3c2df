// pthread_cancel() ends a thread by unwinding it in the middle of its work. That must not pass through code that does
// not throw, and cannot be caught.
#pragma once

namespace latebind::platform {

// While it lives, its thread is not cancelled; afterwards it can be, as before. Does nothing where there is no
// pthread_cancel().
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
