// pthread_cancel(), which ends a thread in the middle of what it does by unwinding it. That cannot be let through code
// that does not throw, nor be caught.
#pragma once

namespace latebind::platform {

// While it lives, its thread is not cancelled; after that it is, as before. Nothing where there is no such thing.
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
