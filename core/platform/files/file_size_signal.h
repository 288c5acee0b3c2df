// Blocks SIGXFSZ, which ends a process that writes beyond its limit on file sizes (`ulimit -f`). The host decides how
// signals are handled, so a library may not ignore it for the whole process.
#pragma once

namespace latebind::platform {

// While it lives, a write of its thread beyond the limit fails with EFBIG and sends no signal, then or later. Does
// nothing on systems without this signal. Used on the thread that creates it.
class NoFileSizeSignal {
 public:
  NoFileSizeSignal() noexcept;
  ~NoFileSizeSignal();
  NoFileSizeSignal(const NoFileSizeSignal&) = delete;
  NoFileSizeSignal& operator=(const NoFileSizeSignal&) = delete;

 private:
  // Whether the signal was unblocked in the thread before.
  [[maybe_unused]] bool ends_with_this_ = false;
};

}  // namespace latebind::platform
